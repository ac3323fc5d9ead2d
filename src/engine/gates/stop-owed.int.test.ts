import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { dyingAfter } from '../../testing/engine/dying.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { finishMission } from '../mission/finish.ts'
import { owedTasks } from '../mission/owed.ts'
import { engineViews } from '../views/tasks.ts'
import { stopMission } from './stop.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { maxAttempts: 1, onExhausted: 'escalate', panel: { size: 1, quorum: 1 } },
}
const order = { by: 'owner', reason: 'enough' }
const common = { criteria: [], mission: 'plan', expectsDiff: false }
const task = (name: string, more: object = {}) => specWith({ id: `plan/${name}`, title: name, ...common, ...more })
const bee = task('b', { deliverable: { kind: 'text', id: 'bee' } })

/** A process died after it accepted `b`, before its card was made; another one finds its things. */
async function diedBeforeCard(tasks: ReturnType<typeof task>[]) {
  const journal = openMemoryJournal({ views: engineViews })
  const brains = { hands: handsOf(() => 'the work'), eyes: eyesOf(() => 'SCORE: 90') }
  const first = dyingAfter(journal, 'task.accepted')
  const dead = openWorkshop({ config, brains, journal: first.journal })
  onTestFinished(dead.remove)
  expect(await dead.engine.start({ id: 'plan', name: 'Plan', tasks })).toMatchObject({ ok: true })
  void dead.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
  await first.died
  const next = openWorkshop({ config, brains, journal, folder: dead.folder })
  expect((await journal.queued()).map(({ kind }) => kind)).toContain('hand_over')
  expect(await next.engine.inbox()).toEqual([])
  return next
}

describe('a mission that the owner stops', () => {
  it('has the card of what was accepted before in the inbox, and counts what is held back', async () => {
    const { engine, parts } = await diedBeforeCard([bee, task('c', { dependsOn: ['plan/b'] })])
    expect(await stopMission(engine, 'plan-1', order)).toMatchObject({ changed: ['plan-1/c'] })
    expect(await engine.inbox()).toMatchObject([{ type: 'report_ready', task: 'plan-1/b', state: 'pending' }])
    expect(await owedTasks(parts.journal)).toEqual([])
  })

  it('has it too where nothing was open any more', async () => {
    const { engine } = await diedBeforeCard([bee])
    expect(await stopMission(engine, 'plan-1', order)).toEqual({ changed: [], refused: [], gates: [] })
    expect(await engine.inbox()).toMatchObject([{ type: 'report_ready', task: 'plan-1/b' }])
    expect(await engine.missions()).toMatchObject([{ outcome: 'clean' }])
  })

  it('alerts the owner of a deliverable that failed with it', async () => {
    const brains = { hands: handsOf(() => 'the work'), eyes: eyesOf(() => 'SCORE: 10') }
    const { engine, remove } = openWorkshop({ config, brains })
    onTestFinished(remove)
    await engine.start({ id: 'plan', name: 'Plan', tasks: [bee] })
    expect(await engine.run({ missions: ['plan-1'], stop: new AbortController().signal })).toMatchObject({ rows: [{ status: 'held' }] })
    await stopMission(engine, 'plan-1', order)
    const alerts = (await engine.inbox()).filter(({ title }) => title === 'b: failed')
    expect(alerts).toMatchObject([{ type: 'error_alert', task: 'plan-1/b', state: 'pending' }])
  })

  it('that died in the middle of that is named, and whoever comes by next shows it', async () => {
    const { engine, parts, folder } = await diedBeforeCard([bee])
    // Whoever finished it did not look at the queue.
    await finishMission(parts, 'plan-1')
    expect(await owedTasks(parts.journal)).toEqual(['plan-1/b'])
    const brains = { hands: handsOf(() => ''), eyes: eyesOf(() => 'SCORE: 90') }
    const later = openWorkshop({ config, brains, journal: parts.journal, folder })
    expect(await later.engine.sendPending()).toBe(0)
    expect(await engine.inbox()).toMatchObject([{ type: 'report_ready', task: 'plan-1/b' }])
    expect(await owedTasks(parts.journal)).toEqual([])
  })
})
