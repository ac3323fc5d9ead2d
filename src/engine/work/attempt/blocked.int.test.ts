import { expect, it, onTestFinished, vi } from 'vitest'
import type { BrainPort } from '../../../ports/brain.ts'
import { eyesOf, handsOf } from '../../../testing/engine/brains.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { specWith } from '../../../testing/task/world.ts'

const config = {
  brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
  review: { panel: { size: 1, quorum: 1 } },
  concurrency: 1,
}
const task = (title: string, more: object = {}) =>
  specWith({ id: `plan/${title}`, title, criteria: [], mission: 'plan', expectsDiff: false, ...more })

it('a task that may run, but whose gate is shut again before it began, waits for the gate anew', async () => {
  const turns: string[] = []
  const finished = handsOf(({ task: { title }, attempt }) => `work ${attempt} of ${title}`)
  /** The one worker is busy with `between` when the owner takes back what the gate passed on. */
  const hands: BrainPort = {
    ...finished,
    work: async (order, signal) => {
      turns.push(order.task.title)
      if (order.task.title === 'between') {
        const overruled = { type: 'overrule_task', outcome: 'fail', by: 'owner', reason: 'not so' } as const
        expect(await shop.engine.handle('plan-1/input', overruled, 'owner')).toMatchObject({ ok: true })
        await vi.waitUntil(async () => (await shop.engine.gates('plan-1')).every(({ status }) => status === 'waiting'), 30_000)
      }
      return await finished.work(order, signal)
    },
  }
  const shop = openWorkshop({ config, brains: { hands, eyes: eyesOf(() => 'SCORE: 90') } })
  onTestFinished(shop.remove)
  const gate = {
    name: 'gate',
    afterTasks: ['plan/input'],
    blocksTasks: ['plan/between', 'plan/behind'],
    requireAllPassed: true,
    notifyChannels: [],
  }
  const started = await shop.engine.start({
    id: 'plan',
    name: 'Plan',
    tasks: [task('input', { priority: 3 }), task('between', { priority: 2, gates: ['gate'] }), task('behind', { gates: ['gate'] })],
    gates: [gate],
  })
  expect(started).toMatchObject({ ok: true })
  const end = await shop.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
  expect(turns.indexOf('behind'), turns.join()).toBe(turns.length - 1)
  expect(turns.filter((title) => title === 'input')).toHaveLength(2)
  expect(end.counts).toEqual({ clean: 3 })
  const events = (await shop.parts.journal.readStream('task/plan-1/behind')).map(({ type }) => type)
  expect(events.slice(0, 5)).toEqual(['task.created', 'task.readied', 'task.blocked', 'task.readied', 'attempt.started'])
  const gated = (await shop.parts.journal.readStream('gate/plan-1/gate')).map(({ type }) => type)
  expect(gated).toEqual(['gate.created', 'quality.gate.passed', 'gate.reopened', 'quality.gate.passed'])
})
