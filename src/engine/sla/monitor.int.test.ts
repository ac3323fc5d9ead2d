import { describe, expect, it, onTestFinished } from 'vitest'
import type { BrainPort } from '../../ports/brain.ts'
import { dyingAfter } from '../../testing/engine/dying.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { engineViews } from '../views/tasks.ts'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  sla: { checkIntervalMs: 100, violationAction: 'fail' },
  limits: { workerLease: '2s' },
}

describe('a deadline that fails what it is of', () => {
  it.each([
    ['task', { deadline: '50ms' }, {}],
    ['mission', {}, { deadline: '50ms' }],
  ])('does so too where the process died between saying so and doing it: of a %s', async (kind, ofTask, ofMission) => {
    const journal = openMemoryJournal({ views: engineViews })
    /** A worker that never ends by itself. */
    const hands: BrainPort = {
      ...handsOf(() => ''),
      work: (_order, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ kind: 'stopped', detail: 'told to stop' } as never))
        }),
    }
    const brains = { hands, eyes: eyesOf(() => 'SCORE: 90') }
    const first = dyingAfter(journal, 'sla.violated')
    const dead = openWorkshop({ config, brains, journal: first.journal })
    onTestFinished(dead.remove)
    const tasks = [specWith({ id: 'plan/a', criteria: [], mission: 'plan', expectsDiff: false, ...ofTask })]
    expect(await dead.engine.start({ id: 'plan', name: 'Plan', tasks, ...ofMission })).toMatchObject({ ok: true })
    void dead.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
    await first.died
    const types = async () => (await journal.readStream('task/plan-1/a')).map(({ type }) => type)
    expect(await types()).not.toContain('task.failed')

    const next = openWorkshop({ config, brains, journal, folder: dead.folder })
    const end = await next.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
    expect(end.rows).toMatchObject([{ id: 'plan-1/a', status: 'failed' }])
    expect((await types()).filter((type) => type === 'task.failed')).toHaveLength(1)
    const said = await journal.readStream(`sla/${kind}:plan-1${kind === 'task' ? '/a' : ''}`)
    expect(said.filter(({ type }) => type === 'sla.violated')).toHaveLength(1)
  })
})

describe('a turn that was cut off', () => {
  it('is recorded as interrupted although the deadline has failed its task before anybody noticed', async () => {
    const journal = openMemoryJournal({ views: engineViews })
    const brains = { hands: handsOf(() => 'done'), eyes: eyesOf(() => 'SCORE: 90') }
    const first = dyingAfter(journal, 'attempt.started')
    const dead = openWorkshop({ config, brains, journal: first.journal })
    onTestFinished(dead.remove)
    const tasks = [specWith({ id: 'plan/a', criteria: [], mission: 'plan', expectsDiff: false, deadline: '300ms' })]
    expect(await dead.engine.start({ id: 'plan', name: 'Plan', tasks })).toMatchObject({ ok: true })
    void dead.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
    await first.died
    const next = openWorkshop({ config, brains, journal, folder: dead.folder })
    const end = await next.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
    expect(end.rows).toMatchObject([{ id: 'plan-1/a', status: 'failed', attempt: 1 }])
    const types = (await journal.readStream('task/plan-1/a')).map(({ type }) => type)
    expect(types).toEqual(['task.created', 'task.readied', 'attempt.started', 'task.failed', 'attempt.interrupted'])
    expect(await journal.queued()).toEqual([])
  })
})

describe('deadlines of missions that nobody runs', () => {
  it('are looked at by whoever runs another one in the same folder', async () => {
    const brains = { hands: handsOf(() => 'done'), eyes: eyesOf(() => 'SCORE: 90') }
    const { engine, remove, parts } = openWorkshop({ config, brains })
    onTestFinished(remove)
    const plan = (id: string, more: object) => {
      const tasks = [specWith({ id: `${id}/a`, criteria: [], mission: id, expectsDiff: false, ...more })]
      return { id, name: id, tasks }
    }
    expect(await engine.start(plan('left', { deadline: '1ms' }))).toMatchObject({ ok: true })
    expect(await engine.start({ ...plan('other', {}), deadline: '1ms' })).toMatchObject({ ok: true })
    expect(await engine.start(plan('own', {}))).toMatchObject({ ok: true })
    const end = await engine.run({ missions: ['own-1'], stop: new AbortController().signal })
    expect(end.rows).toMatchObject([{ id: 'own-1/a', status: 'done' }])
    expect(await engine.taskRows('left-1/')).toMatchObject([{ status: 'failed' }])
    expect(await engine.taskRows('other-1/')).toMatchObject([{ status: 'failed' }])
    for (const entity of ['task:left-1/a', 'mission:other-1'])
      expect((await parts.journal.readStream(`sla/${entity}`)).map(({ type }) => type)).toContain('sla.violated')
  })
})

describe('a deadline that passed and failed its task', () => {
  it('does not fail it again where the owner gives it another try', async () => {
    let patient = false
    const hands: BrainPort = {
      ...handsOf(() => ''),
      work: (order, signal) => {
        if (patient) return handsOf(() => 'done').work(order, signal)
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ kind: 'stopped', detail: 'told to stop' } as never))
        })
      },
    }
    const { engine, remove, parts } = openWorkshop({ config, brains: { hands, eyes: eyesOf(() => 'SCORE: 90') } })
    onTestFinished(remove)
    const tasks = [specWith({ id: 'plan/a', criteria: [], mission: 'plan', expectsDiff: false, deadline: '50ms' })]
    expect(await engine.start({ id: 'plan', name: 'Plan', tasks })).toMatchObject({ ok: true })
    const run = () => engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
    expect((await run()).rows).toMatchObject([{ id: 'plan-1/a', status: 'failed' }])
    const retried = await engine.handle('plan-1/a', { type: 'reopen_task', by: 'owner', reason: 'it may take longer' }, 'owner')
    expect(retried).toMatchObject({ ok: true })
    patient = true
    expect((await run()).rows).toMatchObject([{ id: 'plan-1/a', status: 'done', flag: 'clean' }])
    const said = (await parts.journal.readStream('sla/task:plan-1/a')).map(({ type }) => type)
    expect(said.filter((type) => type === 'sla.violated')).toHaveLength(1)
    expect(said).not.toContain('sla.met')
  })
})

describe('a point in time', () => {
  it('is warned of although the task is not ready yet', async () => {
    let now = Date.parse('2026-03-01T00:00:00Z')
    const clock = { now: () => now, wall: () => now }
    const brains = { hands: handsOf(() => 'done'), eyes: eyesOf(() => 'SCORE: 90') }
    const { engine, remove, parts } = openWorkshop({ config, brains, clock })
    onTestFinished(remove)
    const common = { criteria: [], mission: 'plan', expectsDiff: false }
    const tasks = [
      specWith({ id: 'plan/a', ...common }),
      specWith({ id: 'plan/w', ...common, dependsOn: ['plan/a'], deadline: '2026-03-01T00:00:10Z' }),
    ]
    expect(await engine.start({ id: 'plan', name: 'Plan', tasks })).toMatchObject({ ok: true })
    const said = async () => (await parts.journal.readStream('sla/task:plan-1/w')).map(({ type, data }) => ({ type, ...(data as object) }))
    now += 7_000
    await engine.deadlines.look()
    expect(await said()).toEqual([])
    now += 1_500
    await engine.deadlines.look()
    expect(await said()).toMatchObject([{ type: 'sla.warning', elapsed: 8_500, remaining: 1_500, percentUsed: 85 }])
  })
})
