import { describe, expect, it } from 'vitest'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import { lives } from '../../testing/task/lives.ts'
import { contentOf } from '../../testing/task/steps.ts'
import { verdictExpiry } from './verdict-time.ts'

const at = (second: number) => new Date(second * 1000).toISOString()
const placed = (events: readonly AssayEvent[]) => events.map((event, index) => ({ event, at: at(index) }))
const { digest } = contentOf('one')

describe('until when a verdict counts', () => {
  it('runs from the first decision on what was brought, whatever comes after it', () => {
    const { events } = lives['done: clean']()
    const decided = events.findIndex(({ type }) => type === 'review.decided')
    expect(verdictExpiry(placed(events), digest, 60_000)).toBe(at(decided + 60))
    const again = events.slice(events.findIndex(({ type }) => type === 'review.opened'))
    expect(verdictExpiry(placed([...events, ...again]), digest, 60_000), 'judged once more').toBe(at(decided + 60))
  })

  it('runs from the word of the owner where that is what accepted it', () => {
    const { events } = lives['done: owner-accepted']()
    expect(verdictExpiry(placed(events), digest, 1000)).toBe(at(events.findLastIndex(({ type }) => type === 'task.accepted') + 1))
  })

  it('is nothing where nobody decided on that content', () => {
    expect(verdictExpiry(placed(lives['done: clean']().events), 'other', 1000)).toBeUndefined()
    expect(verdictExpiry(placed(lives.in_review().events), digest, 1000)).toBeUndefined()
  })
})
