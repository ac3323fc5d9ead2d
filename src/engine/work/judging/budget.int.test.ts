import { describe, expect, it, onTestFinished } from 'vitest'
import type { BrainPort } from '../../../ports/brain.ts'
import { eyesOf, handsOf } from '../../../testing/engine/brains.ts'
import { openWorkshop } from '../../../testing/engine/workshop.ts'
import { specWith } from '../../../testing/task/world.ts'

const seats = ['qa', 'qa2', 'qa3', 'qa4', 'qa5']
const judges = Object.fromEntries(seats.map((name) => [name, { role: 'reviewer', brain: 'eyes', instructions: `as ${name}` }]))

/** Many panels of five that would all sit at once; a sitting costs 10 cents and takes a moment. */
async function judged(maxCost?: number) {
  let sitting = 0
  let most = 0
  let calls = 0
  const eyes: BrainPort = {
    ...eyesOf(() => 'SCORE: 90'),
    judge: async () => {
      calls += 1
      sitting += 1
      most = Math.max(most, sitting)
      await new Promise((resolve) => setTimeout(resolve, 20))
      sitting -= 1
      return { kind: 'reply', reply: { channel: 'text', body: 'SCORE: 90' }, usage: { inputTokens: 1, outputTokens: 1, costUsd: 0.1 } }
    },
  }
  const shop = openWorkshop({
    config: {
      brains: { hands: { kind: 'scripted', file: 'hands.yaml' }, eyes: { kind: 'scripted', file: 'eyes.yaml' } },
      agents: { dev: { role: 'engineer', brain: 'hands' }, ...judges },
      review: { panel: { size: 5, quorum: 5, mode: 'full' }, ...(maxCost !== undefined && { maxCost }) },
      concurrency: 4,
    },
    brains: { hands: handsOf(({ task }) => `work of ${task.title}`), eyes },
  })
  onTestFinished(shop.remove)
  const tasks = ['a', 'b', 'c', 'd'].map((title) =>
    specWith({ id: `plan/${title}`, title, criteria: [], mission: 'plan', expectsDiff: false }),
  )
  expect(await shop.engine.start({ id: 'plan', name: 'Plan', tasks })).toMatchObject({ ok: true })
  const { rows, judging } = await shop.engine.run({ missions: ['plan-1'], stop: new AbortController().signal })
  return {
    calls,
    most,
    held: rows.filter((row) => row.held === 'budget').length,
    done: rows.filter(({ status }) => status === 'done').length,
    judging,
  }
}

describe('a bound on the cost of judging', () => {
  it('holds where many judges would sit at once: the call that would pass it is not made', async () => {
    const { calls, most, held, done, judging } = await judged(0.65)
    expect(calls).toBe(6)
    expect(most).toBe(1)
    expect(judging.costUsd).toBeCloseTo(0.6)
    expect({ ended: held + done, anyHeld: held >= 3 }).toEqual({ ended: 4, anyHeld: true })
  })

  it('is what makes them wait for each other: without one they sit together', async () => {
    const { calls, most, done } = await judged()
    expect({ calls, done }).toEqual({ calls: 20, done: 4 })
    expect(most).toBeGreaterThan(1)
  })
})
