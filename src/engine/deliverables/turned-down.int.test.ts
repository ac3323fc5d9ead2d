import { expect, it, onTestFinished } from 'vitest'
import { openGateWorld } from '../../testing/deliverables/world.ts'
import type { Engine } from '../engine.ts'
import { reviewDeliverable } from './review.ts'
import { rejectedElsewhere } from './turned-down.ts'

const never = new AbortController().signal

it('content that was rejected under another id is judged by those who know it', { timeout: 120_000 }, async () => {
  const world = openGateWorld({ bars: [60] })
  onTestFinished(world.close)
  const engine = world.engines[0] as Engine
  world.files.set('bad', 'text: score=20 bad')
  world.files.set('good', 'text: score=90 good')
  const review = async (id: string, producer: string, source: string, criteria: string[] = []) => {
    const brought = await world.bring(id, producer, source)
    const reviewed = await reviewDeliverable(engine, { ...brought, criteria }, never)
    if (!reviewed.ok) return reviewed.error.code
    return { verdict: reviewed.value.verdict, told: (await engine.task(reviewed.value.task))?.spec.description }
  }
  expect(await review('q3', 'ana', 'bad', ['It is short.'])).toEqual({
    verdict: 'NEEDS_REVISION',
    told: expect.not.stringContaining('rejected'),
  })
  expect(await review('q4', 'ana', 'bad', ['It is short.']), 'the same question').toBe('already_exists')
  const reworded = await review('q4', 'ana', 'bad', ['It is brief.'])
  expect(reworded).toEqual({ verdict: 'NEEDS_REVISION', told: expect.stringContaining('was judged and rejected before') })
  expect(reworded).toEqual({ verdict: 'NEEDS_REVISION', told: expect.stringMatching(/- as q3: /) })
  expect(await rejectedElsewhere(engine, 'q4')).toMatchObject([{ deliverable: 'q3' }])

  expect(await review('b1', 'ben', 'bad', ['It is concise.'])).toMatchObject({ told: expect.not.stringContaining('rejected') })
  expect(await review('q5', 'ana', 'good')).toMatchObject({ verdict: 'PASS', told: expect.not.stringContaining('rejected') })
  expect(await rejectedElsewhere(engine, 'q5')).toEqual([])
})
