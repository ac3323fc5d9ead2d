import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import { eyesOf, handsOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { specWith } from '../../testing/task/world.ts'
import { retryMission } from '../gates/retry.ts'
import { stopMission } from '../gates/stop.ts'
import { engineViews } from '../views/tasks.ts'

const stop = new AbortController().signal
const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { threshold: 60, maxAttempts: 1, onExhausted: 'fail', panel: { size: 1, quorum: 1 } },
}
const brains = { hands: handsOf(({ task }) => task.title), eyes: eyesOf(({ task }) => `SCORE: ${task.title === 'a' ? 20 : 90}`) }
const task = (title: string, more: object = {}) =>
  specWith({ id: `plan/${title}`, title, criteria: [], mission: 'plan', expectsDiff: false, ...more })
const order = { by: 'owner', reason: 'because' }

describe('the owner of a run', () => {
  it('stops it whatever policy is in force by now', async () => {
    const journal = openMemoryJournal({ views: engineViews })
    const first = openWorkshop({ config, brains, journal })
    onTestFinished(first.remove)
    await first.engine.start({ id: 'plan', name: 'Plan', tasks: [task('b')] })
    const other = { ...config, review: { ...config.review, threshold: 61 } }
    const { engine } = openWorkshop({ config: other, brains, journal, folder: first.folder })
    expect(await engine.handle('plan-1/b', { type: 'fail_task', reason: 'late' }, 'runtime')).toMatchObject({
      ok: false,
      error: { code: 'policy_changed' },
    })
    expect(await stopMission(engine, 'plan-1', order)).toEqual({ changed: ['plan-1/b'], refused: [], gates: [] })
    expect((await engine.missions())[0]?.finished).toBeDefined()
  })

  it('opens again what can still be done, and is told what cannot: nothing waits for ever', async () => {
    const { engine, remove } = openWorkshop({ config, brains })
    onTestFinished(remove)
    const gate = { name: 'g1', afterTasks: ['plan/a'], blocksTasks: ['plan/x'], requireAllPassed: true as const, notifyChannels: [] }
    const tasks = [task('a'), task('x', { gates: ['g1'] }), task('y', { dependsOn: ['plan/x'] })]
    await engine.start({ id: 'plan', name: 'Plan', tasks, gates: [gate] })
    await engine.run({ missions: ['plan-1'], stop })
    const [request] = await engine.requests()
    if (!request) throw new Error('nothing is asked')
    await engine.answer({ request, answer: 'stop', ...order })
    await engine.run({ missions: ['plan-1'], stop })
    const { changed, refused } = await retryMission(engine, 'plan-1', order)
    expect(changed).toEqual(['plan-1/a'])
    expect(refused.map((one) => one.task)).toEqual(['plan-1/x', 'plan-1/y'])
    expect(refused[0]?.message).toContain('the gate g1 before it was stopped')
    expect(refused[1]?.message).toContain('the gate g1 before plan-1/x was stopped')
    const end = await engine.run({ missions: ['plan-1'], stop })
    expect(end.counts).toEqual({ failed: 1, skipped: 2 })
  })
})
