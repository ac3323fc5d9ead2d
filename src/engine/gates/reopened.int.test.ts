import { describe, expect, it, vi } from 'vitest'
import { benchOf, racingJournal, stageMission } from '../../testing/engine/gated-mission.ts'
import { answerRequest } from '../requests.ts'
import { TaskStore } from '../task/task-store.ts'
import { settleGate } from '../work/house.ts'
import { handleGate } from './gates.ts'

const stop = new AbortController().signal

describe('a task that was skipped', () => {
  it('stays so where another thing that it depends on is done later', async () => {
    const scene = await stageMission({
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
    const scene = await stageMission({
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
    const scene = await stageMission({
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
    const scene = await stageMission({
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
    const scene = await stageMission({
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
    const scene = await stageMission({
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
    const bench = { ...benchOf({ parts }), tasks }
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
    const scene = await stageMission({
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
    const scene = await stageMission({
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
    const scene = await stageMission({
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
    let shut = 0
    const racing = racingJournal(async ({ streams }, journal) => {
      const starts = streams.some(
        ({ stream, events }) => stream === 'task/plan-1/t' && events.some(({ type }) => type === 'attempt.started'),
      )
      if (!starts || shut > 0) return
      shut += 1
      const parts = { ...scene.parts, journal }
      await handleGate(parts, { mission: 'plan-1', name: 'g1' }, { type: 'reopen_gate', task: 'plan-1/a' }, 'runtime')
    })
    const scene = await stageMission({
      tasks: { a: {}, t: { gates: ['g1'] } },
      gates: [{ name: 'g1', afterTasks: ['a'], blocksTasks: ['t'] }],
      journal: racing,
    })
    await scene.run()
    expect(shut).toBe(1)
    expect((await scene.types('task/plan-1/t')).slice(0, 3)).toEqual(['task.created', 'task.readied', 'task.blocked'])
    // Nothing was opened but the gate itself: it may look once more, and only then may anything start.
    const [, again = Number.POSITIVE_INFINITY] = await scene.positions('gate/plan-1/g1', 'quality.gate.passed')
    for (const started of await scene.positions('task/plan-1/t', 'attempt.started')) expect(started).toBeGreaterThan(again)
  })
})
