import { describe, expect, it } from 'vitest'
import { benchOf, racingJournal, type Scene, stageMission } from '../../testing/engine/gated-mission.ts'
import type { AppendRequest } from '../../ports/journal.ts'
import { answerRequest } from '../requests.ts'
import { TaskStore } from '../task/task-store.ts'
import { runAttempt } from '../work/attempt/run.ts'
import { settleGate } from '../work/house.ts'

const stop = new AbortController().signal
const reopening = { type: 'reopen_task', by: 'owner', reason: 'more' } as const
const owner = { actor: 'owner' }
const oneGate: Pick<Scene, 'tasks' | 'gates'> = {
  tasks: { a: {}, t: { gates: ['g1'] } },
  gates: [{ name: 'g1', afterTasks: ['a'], blocksTasks: ['t'] }],
}

/** Decides and appends, as a process does that is killed right after. */
const decideAlone = ({ parts }: Pick<Awaited<ReturnType<typeof stageMission>>, 'parts'>, title: string) =>
  new TaskStore(parts).handle(`plan-1/${title}`, reopening, owner)

const appends = ({ streams }: AppendRequest, stream: string, wanted: string): boolean =>
  streams.some((one) => one.stream === stream && one.events.some(({ type }) => type === wanted))

describe('an input that is opened again', () => {
  it('takes back the question of its gate at once; a late answer is told so, and the gate asks anew', async () => {
    const scene = await stageMission({ ...oneGate, score: (title) => (title === 'a' ? 20 : 90) })
    await scene.run()
    const [request] = await scene.engine.requests()
    if (!request) throw new Error('nothing is asked')
    expect(await decideAlone(scene, 'a')).toMatchObject({ ok: true })
    expect(await scene.engine.requests()).toEqual([])
    const late = await scene.engine.answer({ request, answer: 'waive', by: 'owner', reason: 'because' })
    expect(late).toMatchObject({ ok: false, error: { code: 'wrong_status', message: expect.stringMatching(/withdrawn.*plan-1\/a/) } })
    await scene.run()
    expect(await scene.engine.requests()).toMatchObject([{ request: 'plan-1/gate:g1#2' }])
    expect(await scene.answer('g1', 'waive')).toMatchObject({ ok: true })
    await scene.run()
    expect([await scene.gate('g1'), await scene.statusOf('t')]).toEqual(['waived', 'done'])
    expect(await decideAlone(scene, 'a')).toMatchObject({ ok: true })
    expect(await scene.gate('g1')).toBe('waiting')
  })

  it('shuts the gate that it passed in the same append: nothing behind it starts, whoever was killed', async () => {
    const scene = await stageMission(oneGate)
    await scene.run()
    expect(await decideAlone(scene, 't')).toMatchObject({ ok: true })
    expect(await decideAlone(scene, 'a')).toMatchObject({ ok: true })
    const [lease] = await scene.parts.journal.claim({ owner: 'x', kinds: ['run_attempt'], scopes: ['plan-1'], limit: 1, leaseMs: 60_000 })
    expect(lease?.payload).toEqual({ task: 'plan-1/t' })
    if (lease) await runAttempt(benchOf(scene), lease, stop)
    expect((await scene.types('task/plan-1/t')).at(-1)).toBe('task.blocked')
    expect((await scene.run()).counts).toEqual({ clean: 2 })
    const [, passed] = await scene.positions('gate/plan-1/g1', 'quality.gate.passed')
    const [, started] = await scene.positions('task/plan-1/t', 'attempt.started')
    expect(started).toBeGreaterThan(passed as number)
  })

  it('opens the finished run in the same append', async () => {
    const scene = await stageMission(oneGate)
    await scene.run()
    expect(await scene.finished()).toBe(true)
    await decideAlone(scene, 'a')
    expect(await scene.finished()).toBe(false)
  })
})

describe('where another process is faster', () => {
  it('a gate does not pass on what was opened again after the look at it', async () => {
    let raced = 0
    const journal = racingJournal(async (request, own) => {
      if (raced > 0 || !appends(request, 'gate/plan-1/g1', 'quality.gate.passed')) return
      raced += 1
      expect(await decideAlone({ parts: { ...scene.parts, journal: own } }, 'a')).toMatchObject({ ok: true })
    })
    const scene = await stageMission({ ...oneGate, journal })
    expect((await scene.run()).counts).toEqual({ clean: 2 })
    expect(raced).toBe(1)
    const passed = await scene.positions('gate/plan-1/g1', 'quality.gate.passed')
    const [, accepted] = await scene.positions('task/plan-1/a', 'task.accepted')
    expect(passed).toHaveLength(1)
    expect(passed[0]).toBeGreaterThan(accepted as number)
  })

  it('a gate that passes meanwhile is shut by what opens its input', async () => {
    let raced = 0
    const journal = racingJournal(async (request) => {
      if (raced > 0 || !appends(request, 'task/plan-1/a', 'task.reopened')) return
      raced += 1
      expect(await scene.answer('g1', 'waive')).toMatchObject({ ok: true })
    })
    const scene = await stageMission({ ...oneGate, journal, score: (title) => (title === 'a' ? 20 : 90) })
    await scene.run()
    expect(await decideAlone(scene, 'a')).toMatchObject({ ok: true })
    expect(raced).toBe(1)
    expect((await scene.types('gate/plan-1/g1')).slice(-2)).toEqual(['gate.waived', 'gate.reopened'])
  })

  it('nothing is made ready with what was opened again after the look at it', async () => {
    let raced = 0
    const journal = racingJournal(async (request, own) => {
      if (raced > 0 || !appends(request, 'task/plan-1/t', 'task.readied')) return
      raced += 1
      expect(await decideAlone({ parts: { ...scene.parts, journal: own } }, 'a')).toMatchObject({ ok: true })
    })
    const scene = await stageMission({ tasks: { t: { dependsOn: ['a'] }, a: {} }, journal })
    expect((await scene.run()).counts).toEqual({ clean: 2 })
    expect(raced).toBe(1)
    const [, accepted] = await scene.positions('task/plan-1/a', 'task.accepted')
    const readied = await scene.positions('task/plan-1/t', 'task.readied')
    expect(readied).toHaveLength(1)
    expect(readied[0]).toBeGreaterThan(accepted as number)
  })

  it('nothing goes on with what landed and was opened again before it could hear of it', async () => {
    let raced = 0
    const journal = racingJournal(async (request, own) => {
      if (raced > 0 || !appends(request, 'task/plan-1/t', 'input.landed')) return
      raced += 1
      expect(await decideAlone({ parts: { ...scene.parts, journal: own } }, 'a')).toMatchObject({ ok: true })
    })
    const scene = await stageMission({ tasks: { t: { dependsOn: ['a'] }, a: {} }, journal })
    await scene.run()
    expect(await scene.overrule('a')).toMatchObject({ ok: true })
    expect((await scene.run()).counts).toEqual({ clean: 2 })
    expect(raced).toBe(1)
    const landed = await scene.positions('task/plan-1/t', 'input.landed')
    const [, , accepted] = await scene.positions('task/plan-1/a', 'task.accepted')
    expect(landed).toHaveLength(1)
    expect(landed[0]).toBeGreaterThan(accepted as number)
  })

  it('a run with a task that was opened at its very end is not finished', async () => {
    let raced = 0
    const journal = racingJournal(async (request, own) => {
      if (raced > 0 || !appends(request, 'mission/plan-1', 'mission.finished')) return
      raced += 1
      expect(await decideAlone({ parts: { ...scene.parts, journal: own } }, 'a')).toMatchObject({ ok: true })
    })
    const scene = await stageMission({ tasks: { a: {} }, journal })
    await scene.run()
    expect(raced).toBe(1)
    expect([await scene.finished(), await scene.statusOf('a')]).toEqual([false, 'todo'])
    await scene.run()
    expect([await scene.finished(), await scene.attempts('a')]).toEqual([true, 2])
  })
})

describe('an answer to a gate', () => {
  it('that leaves nothing to open is followed by another question, not by a wait without an end', async () => {
    const scene = await stageMission({ ...oneGate, score: () => 20 })
    await scene.run()
    const bench = benchOf(scene)
    const [request] = await scene.engine.requests()
    if (!request) throw new Error('nothing is asked')
    await answerRequest(bench.parts, bench.tasks, { request, answer: 'retry', by: 'owner', reason: 'more' })
    const { journal } = bench.parts
    const [lease] = await journal.claim({ owner: 'x', kinds: ['settle_gate'], scopes: ['plan-1'], limit: 1, leaseMs: 60_000 })
    if (!lease) throw new Error('nothing is to be carried out')
    await settleGate(bench, { ...lease, payload: { ...(lease.payload as object), retried: [] } }, stop)
    expect(await scene.engine.requests()).toMatchObject([{ request: 'plan-1/gate:g1#2' }])
  })
})

describe('an answer that is carried out twice', () => {
  it('opens an input that never ran once', async () => {
    const scene = await stageMission({
      tasks: { a: {}, b: { dependsOn: ['a'] }, t: { gates: ['g1'] } },
      gates: [{ name: 'g1', afterTasks: ['b'], blocksTasks: ['t'] }],
      score: () => 20,
    })
    await scene.run()
    const bench = benchOf(scene)
    const [request] = await scene.engine.requests()
    if (!request) throw new Error('nothing is asked')
    const answer = { request, answer: 'retry', by: 'owner', reason: 'more' } as const
    expect(await answerRequest(bench.parts, bench.tasks, answer)).toMatchObject({ ok: true })
    const { journal } = bench.parts
    const [lease] = await journal.claim({ owner: 'dead', kinds: ['settle_gate'], scopes: ['plan-1'], limit: 1, leaseMs: 60_000 })
    if (!lease) throw new Error('nothing is to be carried out')
    await settleGate(bench, lease, stop)
    await scene.run()
    expect([await scene.statusOf('b'), await scene.gate('g1')]).toEqual(['skipped', 'failed'])
    await settleGate(bench, lease, stop)
    expect(await scene.positions('task/plan-1/b', 'task.reopened')).toHaveLength(1)
    expect([await scene.statusOf('b'), await scene.gate('g1')]).toEqual(['skipped', 'failed'])
  })
})
