import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { stopMission } from '../gates/stop.ts'
import { TaskStore } from '../task/task-store.ts'
import { engineViews } from '../views/tasks.ts'

const stop = new AbortController().signal
const order = { by: 'owner', reason: 'enough' }
const minute = 60_000

/** A mission `plan-1` whose task `a` is rejected, and nobody at work afterwards; time passes when the test says so. */
async function left(more: { onExhausted?: 'escalate' | 'fail'; action?: 'notify' | 'fail'; deadline?: string; gated?: boolean } = {}) {
  const { onExhausted = 'escalate', action = 'notify', deadline = '1m', gated = false } = more
  const journal = openMemoryJournal({ views: engineViews })
  const time = { now: Date.parse('2026-03-01T00:00:00Z') }
  const clock = { now: () => time.now, wall: () => time.now }
  const config = {
    brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
    agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
    review: { threshold: 60, maxAttempts: 1, onExhausted, panel: { size: 1, quorum: 1 } },
    sla: { violationAction: action },
  }
  const brains = { hands: handsOf(() => 'done'), eyes: eyesOf(({ task }) => `SCORE: ${task.title === 'a' ? 20 : 90}`) }
  const first = openWorkshop({ config, brains, journal, clock })
  onTestFinished(first.remove)
  /** Another process on the same journal. */
  const next = () => openWorkshop({ config, brains, journal, clock, folder: first.folder })
  const task = (title: string, of: object = {}) =>
    specWith({ id: `plan/${title}`, title, criteria: [], mission: 'plan', expectsDiff: false, ...of })
  const gates = [{ name: 'g', afterTasks: ['plan/a'], blocksTasks: ['plan/b'], requireAllPassed: true as const, notifyChannels: [] }]
  const tasks = gated ? [task('a', { deadline }), task('b', { gates: ['g'] })] : [task('a', { deadline })]
  const plan = { id: 'plan', name: 'Plan', tasks, deadline, ...(gated && { gates }) }
  expect(await first.engine.start(plan)).toMatchObject({ ok: true })
  await first.engine.run({ missions: ['plan-1'], stop })
  const said = async (entity: 'task:plan-1/a' | 'mission:plan-1') =>
    (await journal.readStream(`sla/${entity}`)).map(({ type, data }) => [type, (data as { overdueMs?: number }).overdueMs])
  return { journal, time, next, said }
}

describe('a deadline that passed while nobody was there', () => {
  it('is reported of the task and of the mission that the owner stops, once', async () => {
    const { time, next, said } = await left()
    time.now += 2 * minute
    const { engine } = next()
    await stopMission(engine, 'plan-1', order)
    const missed = [['sla.violated', minute]]
    expect([await said('task:plan-1/a'), await said('mission:plan-1')]).toEqual([missed, missed])
    time.now += minute
    await next().engine.deadlines.look()
    expect([await said('task:plan-1/a'), await said('mission:plan-1')]).toEqual([missed, missed])
  })

  it('is reported of the task that the owner’s answer fails', async () => {
    const { time, next, said } = await left()
    time.now += 2 * minute
    const { engine } = next()
    const [request] = await engine.requests()
    if (!request) throw new Error('nothing is asked')
    expect(await engine.answer({ request, answer: 'fail', ...order })).toMatchObject({ ok: true })
    expect(await said('task:plan-1/a')).toEqual([['sla.violated', minute]])
  })

  it('is reported by the next process where the one that failed it was killed before it looked', async () => {
    const { time, next, said } = await left()
    time.now += 2 * minute
    const killed = new TaskStore(next().parts)
    expect(await killed.handle('plan-1/a', { type: 'fail_task', reason: 'enough', by: 'owner' }, { actor: 'owner' })).toMatchObject({
      ok: true,
    })
    expect(await said('task:plan-1/a')).toEqual([])
    time.now += 5 * minute
    await Promise.all([next().engine.deadlines.look(), next().engine.deadlines.look()])
    expect(await said('task:plan-1/a')).toEqual([['sla.violated', minute]])
  })

  it('is reported of the mission whose gate the owner stops', async () => {
    const { time, next, said } = await left({ onExhausted: 'fail', gated: true })
    time.now += 2 * minute
    const { engine } = next()
    const request = (await engine.requests()).find(({ about }) => about === 'gate')
    if (!request) throw new Error('nothing is asked')
    expect(await engine.answer({ request, answer: 'stop', ...order })).toMatchObject({ ok: true })
    expect((await engine.missions())[0]?.outcome).toBe('failed')
    expect(await said('mission:plan-1')).toEqual([['sla.violated', minute]])
    // It failed in time: what passed later was not its own any more.
    expect(await said('task:plan-1/a')).toEqual([])
  })

  it('says nothing of what failed in time, however late anybody looks', async () => {
    const { time, next, said } = await left({ onExhausted: 'fail' })
    time.now += 9 * minute
    await next().engine.deadlines.look()
    expect([await said('task:plan-1/a'), await said('mission:plan-1')]).toEqual([[], []])
  })
})

describe('the owner’s late word', () => {
  it('on what failed in time gives it another try, late as it is: reported, and not failed for it', async () => {
    const { time, next, said } = await left({ onExhausted: 'fail', action: 'fail' })
    time.now += 2 * minute
    const { engine } = next()
    expect(await engine.handle('plan-1/a', { type: 'reopen_task', ...order }, 'owner')).toMatchObject({ ok: true })
    await engine.deadlines.look()
    expect((await engine.task('plan-1/a'))?.status).toBe('todo')
    expect(await said('task:plan-1/a')).toEqual([['sla.violated', minute]])
    expect(await said('mission:plan-1')).toEqual([['sla.violated', minute]])
  })

  it('that accepts failed work is held against the deadline by its own time', async () => {
    const accept = { type: 'overrule_task', outcome: 'pass', ...order } as const
    for (const [minutes, type] of [
      [0.5, 'sla.met'],
      [2, 'sla.violated'],
    ] as const) {
      const { time, next, said } = await left({ onExhausted: 'fail' })
      time.now += minutes * minute
      const { engine } = next()
      expect(await engine.handle('plan-1/a', accept, 'owner')).toMatchObject({ ok: true })
      time.now += 9 * minute
      await next().engine.deadlines.look()
      expect((await said('task:plan-1/a')).map(([what]) => what)).toEqual([type])
    }
  })
})
