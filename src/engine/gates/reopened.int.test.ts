import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { GateSpec } from '../../contract/events/gate.ts'
import type { BrainPort } from '../../ports/brain.ts'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import type { Journal } from '../../ports/journal.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { answerRequest } from '../requests.ts'
import { TaskStore } from '../task/task-store.ts'
import { engineViews } from '../views/tasks.ts'
import type { Bench } from '../work/bench.ts'
import { KeptReports } from '../work/checking/reports-kept.ts'
import { settleGate } from '../work/house.ts'
import { handleGate } from './gates.ts'

const stop = new AbortController().signal
const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { threshold: 60, maxAttempts: 1, onExhausted: 'fail', panel: { size: 1, quorum: 1 } },
  concurrency: 2,
}

interface Scene {
  tasks: Record<string, { dependsOn?: string[]; gates?: string[] }>
  gates?: (Partial<GateSpec> & Pick<GateSpec, 'name' | 'afterTasks' | 'blocksTasks'>)[]
  score?: (title: string, attempt: number) => number
  /** What happens before a turn ends. */
  during?: (title: string, attempt: number) => Promise<unknown>
  journal?: Journal
}

async function stage({ tasks, gates = [], score = () => 90, during = async () => {}, journal }: Scene) {
  const finished = handsOf(({ task: { title }, attempt }) => `work ${attempt} of ${title}`)
  const hands: BrainPort = {
    ...finished,
    work: async (order, signal) => {
      await during(order.task.title, order.attempt)
      return finished.work(order, signal)
    },
  }
  const eyes = eyesOf(({ task: { title }, attempt }) => `Hm.\nSCORE: ${score(title, attempt)}`)
  const shop = openWorkshop({ config, brains: { hands, eyes }, ...(journal && { journal }) })
  onTestFinished(shop.remove)
  const named = (titles: readonly string[] = []) => titles.map((title) => `plan/${title}`)
  const specs = Object.entries(tasks).map(([title, more]) =>
    specWith({ ...more, id: `plan/${title}`, title, criteria: [], mission: 'plan', expectsDiff: false, dependsOn: named(more.dependsOn) }),
  )
  const specced = gates.map((gate) => ({
    requireAllPassed: true as const,
    notifyChannels: [],
    ...gate,
    afterTasks: named(gate.afterTasks),
    blocksTasks: named(gate.blocksTasks),
  }))
  expect(await shop.engine.start({ id: 'plan', name: 'Plan', tasks: specs, gates: specced })).toMatchObject({ ok: true })
  const { engine } = shop
  const statusOf = async (title: string) => (await engine.taskRows(`plan-1/${title}`))[0]?.status
  return {
    ...shop,
    run: () => engine.run({ missions: ['plan-1'], stop }),
    statusOf,
    until: (title: string, status: string) => vi.waitUntil(async () => (await statusOf(title)) === status, 30_000),
    answer: async (gate: string, answer: 'retry' | 'waive' | 'stop') => {
      const request = (await engine.requests()).find(({ subject }) => subject === `plan-1/${gate}`)
      if (!request) throw new Error(`${gate} asks nothing`)
      return engine.answer({ request, answer, by: 'owner', reason: 'because' })
    },
    overrule: (title: string) =>
      engine.handle(`plan-1/${title}`, { type: 'overrule_task', outcome: 'fail', by: 'owner', reason: 'not so' }, 'owner'),
    finished: async () => (await engine.missions())[0]?.finished !== undefined,
    attempts: async (title: string) => (await engine.task(`plan-1/${title}`))?.attempts,
    gate: async (name: string) => (await engine.gates('plan-1')).find((row) => row.name === name)?.status,
    types: async (stream: string) => (await shop.parts.journal.readStream(stream)).map(({ type }) => type),
    /** Where in the journal the nth event of its kind in a stream stands. */
    positions: async (stream: string, type: string) =>
      (await shop.parts.journal.readStream(stream)).filter((event) => event.type === type).map(({ position }) => position),
  }
}

describe('a task that was skipped', () => {
  it('stays so where another thing that it depends on is done later', async () => {
    const scene = await stage({
      tasks: { t: { dependsOn: ['a', 'b'] }, a: {}, b: {} },
      score: (title) => (title === 'a' ? 20 : 90),
      during: async (title) => title === 'b' && (await scene.until('t', 'skipped')),
    })
    const end = await scene.run()
    expect(end.counts).toEqual({ failed: 1, clean: 1, skipped: 1 })
    expect(await scene.types('task/plan-1/t')).toEqual(['task.created', 'task.skipped'])
    expect(await scene.finished()).toBe(true)
  })

  it('because its gate was stopped stays so where what it depends on is done later', async () => {
    const scene = await stage({
      tasks: { t: { dependsOn: ['b'], gates: ['g1'] }, a: {}, b: {} },
      gates: [{ name: 'g1', afterTasks: ['a'], blocksTasks: ['t'] }],
      score: (title) => (title === 'a' ? 20 : 90),
      during: async (title) => {
        if (title !== 'b') return
        await vi.waitUntil(async () => (await scene.gate('g1')) === 'failed', 30_000)
        expect(await scene.answer('g1', 'stop')).toMatchObject({ ok: true })
        await scene.until('t', 'skipped')
      },
    })
    await scene.run()
    expect(await scene.statusOf('t')).toBe('skipped')
    expect(await scene.finished()).toBe(true)
  })

  it('waits again where all that it depends on is done after all', async () => {
    const scene = await stage({
      tasks: { t: { dependsOn: ['a', 'b'] }, a: {}, b: {} },
      score: (title, attempt) => (title === 'a' && attempt === 1 ? 20 : 90),
    })
    await scene.run()
    expect(await scene.engine.handle('plan-1/a', { type: 'reopen_task', by: 'owner', reason: '' }, 'owner')).toMatchObject({ ok: true })
    expect((await scene.run()).counts).toEqual({ clean: 3 })
  })
})

describe('the owner asks for more before a gate', () => {
  it('and what its input depends on is tried again too, once', async () => {
    const scene = await stage({
      tasks: { a: {}, b: { dependsOn: ['a'] }, t: { gates: ['g1'] } },
      gates: [{ name: 'g1', afterTasks: ['b'], blocksTasks: ['t'] }],
      score: (title, attempt) => (title === 'a' && attempt === 1 ? 20 : 90),
    })
    await scene.run()
    expect(await scene.statusOf('b')).toBe('skipped')
    expect(await scene.answer('g1', 'retry')).toMatchObject({ ok: true })
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    expect([await scene.attempts('a'), await scene.attempts('b')]).toEqual([2, 1])
  })

  it('and is told that it cannot be where another gate before the input was stopped; the question stays', async () => {
    const scene = await stage({
      tasks: { a: {}, x: { gates: ['g1'] }, t: { gates: ['g2'] } },
      gates: [
        { name: 'g1', afterTasks: ['a'], blocksTasks: ['x'] },
        { name: 'g2', afterTasks: ['x'], blocksTasks: ['t'] },
      ],
      score: (title) => (title === 'a' ? 20 : 90),
    })
    await scene.run()
    expect(await scene.answer('g1', 'stop')).toMatchObject({ ok: true })
    await scene.run()
    expect(await scene.gate('g2')).toBe('failed')
    expect(await scene.answer('g2', 'retry')).toMatchObject({ ok: false, error: { message: expect.stringContaining('g1') } })
    expect(await scene.engine.requests()).toMatchObject([{ subject: 'plan-1/g2' }])
    expect(await scene.statusOf('x')).toBe('skipped')
  })

  it('and gets one attempt for it, although the answer is carried out twice', async () => {
    const scene = await stage({
      tasks: { a: {}, t: { gates: ['g1'] } },
      gates: [{ name: 'g1', afterTasks: ['a'], blocksTasks: ['t'] }],
      score: () => 20,
    })
    await scene.run()
    const { parts, engine } = scene
    const tasks = new TaskStore(parts)
    const [request] = await engine.requests()
    if (!request) throw new Error('nothing is asked')
    expect(await answerRequest(parts, tasks, { request, answer: 'retry', by: 'owner', reason: 'more' })).toMatchObject({ ok: true })
    const [lease] = await parts.journal.claim({ owner: 'dead', kinds: ['settle_gate'], scopes: ['plan-1'], limit: 1, leaseMs: 60_000 })
    if (!lease) throw new Error('nothing is to be carried out')
    const bench: Bench = {
      parts,
      tasks,
      brain: () => Promise.reject(new Error('nobody thinks here')),
      missing: new Map(),
      paying: new Map(),
      reports: new KeptReports(),
    }
    await settleGate(bench, lease, stop)
    await scene.run()
    expect([await scene.attempts('a'), await scene.statusOf('a')]).toEqual([2, 'failed'])
    // As by the next process, where the first died before it could say that it was done.
    await settleGate(bench, lease, stop)
    await scene.run()
    expect([await scene.attempts('a'), await scene.statusOf('a')]).toEqual([2, 'failed'])
  })
})

describe('a gate that has passed', () => {
  it('is shut at once where the owner takes back what it passed on, and nothing behind it begins', async () => {
    const scene = await stage({
      tasks: { low: {}, t: { gates: ['g1'] } },
      gates: [{ name: 'g1', afterTasks: ['low'], blocksTasks: ['t'], minScore: 4 }],
      score: (title, attempt) => (title === 'low' && attempt > 1 ? 65 : 90),
    })
    expect((await scene.run()).counts).toEqual({ clean: 2 })
    expect(await scene.overrule('low')).toMatchObject({ ok: true })
    expect(await scene.gate('g1')).toBe('waiting')
    expect(await scene.overrule('t')).toMatchObject({ ok: true })
    await scene.run()
    expect(await scene.gate('g1')).toBe('failed')
    expect(await scene.attempts('t')).toBe(1)
  })

  it('and was stopped since: what is opened again behind it is skipped, and nothing waits for ever', async () => {
    const scene = await stage({
      tasks: { a: {}, t: { gates: ['g1'] } },
      gates: [{ name: 'g1', afterTasks: ['a'], blocksTasks: ['t'] }],
      score: (title, attempt) => (title === 'a' && attempt > 1 ? 20 : 90),
    })
    await scene.run()
    expect(await scene.overrule('a')).toMatchObject({ ok: true })
    await scene.run()
    expect(await scene.answer('g1', 'stop')).toMatchObject({ ok: true })
    expect(await scene.overrule('t')).toMatchObject({ ok: true })
    expect((await scene.run()).counts).toEqual({ failed: 1, skipped: 1 })
    expect(await scene.finished()).toBe(true)
  })

  it('is shut while its input is held for what that input depends on', async () => {
    const scene = await stage({
      tasks: { a: {}, b: { dependsOn: ['a'] }, t: { gates: ['g1'] } },
      gates: [{ name: 'g1', afterTasks: ['b'], blocksTasks: ['t'] }],
    })
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    expect(await scene.overrule('a')).toMatchObject({ ok: true })
    expect([await scene.statusOf('b'), await scene.gate('g1')]).toEqual(['held', 'waiting'])
    expect(await scene.overrule('t')).toMatchObject({ ok: true })
    expect((await scene.run()).counts).toEqual({ clean: 3 })
    const [, passed] = await scene.positions('gate/plan-1/g1', 'quality.gate.passed')
    const [, started] = await scene.positions('task/plan-1/t', 'attempt.started')
    expect(started).toBeGreaterThan(passed as number)
  })

  it('and is shut between a look at it and the start that rests on the look: nothing starts', async () => {
    const journal = openMemoryJournal({ views: engineViews })
    let shut = 0
    const racing: Journal = new Proxy(journal, {
      get: (target, key: keyof Journal) => {
        const member = target[key] as (...args: never[]) => unknown
        if (key !== 'append') return typeof member === 'function' ? member.bind(target) : member
        return async (request: Parameters<Journal['append']>[0]) => {
          const starts = request.streams.some(
            ({ stream, events }) => stream === 'task/plan-1/t' && events.some(({ type }) => type === 'attempt.started'),
          )
          if (starts && shut === 0) {
            shut += 1
            const parts = { ...scene.parts, journal }
            await handleGate(parts, { mission: 'plan-1', name: 'g1' }, { type: 'reopen_gate', task: 'plan-1/a' }, 'runtime')
          }
          return target.append(request)
        }
      },
    })
    const scene = await stage({
      tasks: { a: {}, t: { gates: ['g1'] } },
      gates: [{ name: 'g1', afterTasks: ['a'], blocksTasks: ['t'] }],
      journal: racing,
    })
    await scene.run()
    expect(shut).toBe(1)
    expect(await scene.types('task/plan-1/t')).toEqual(['task.created', 'task.readied', 'task.blocked'])
  })
})
