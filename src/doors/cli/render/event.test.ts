import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import { describeEvent, isQuiet } from './event.ts'

const delegated = (data: object) => ({ type: 'task.delegated', data }) as unknown as StoredEvent

describe('the progress of a run', () => {
  it('shows what was handed down, and what was refused with its reason', () => {
    const event = delegated({
      content: 'x',
      delegated: [{ task: 'm-1/a.b', title: 'B', to: 'dev' }],
      refused: [{ title: 'C', to: 'nobody', why: 'nobody is no agent of this organisation' }],
    })
    expect(describeEvent(event)).toBe('hands down B to dev; PROPOSAL REFUSED: C to nobody: nobody is no agent of this organisation')
    expect(isQuiet(event)).toBe(false)
  })

  it('is silent where nothing was proposed', () => {
    expect(describeEvent(delegated({ content: 'x', delegated: [], refused: [] }))).toBeUndefined()
  })
})

describe('a panel with fewer independent judges than the quorum', () => {
  const opened = (degraded: boolean) =>
    ({
      type: 'review.opened',
      data: { review: 1, size: 3, quorum: 1, degraded, warnings: [], suspicions: [] },
    }) as unknown as StoredEvent
  const decided = (degraded: boolean) =>
    ({ type: 'review.decided', data: { decision: { outcome: 'pass', degraded, concern: 'fine' } } }) as unknown as StoredEvent

  it('is seen when it opens and when it decides', () => {
    expect([isQuiet(opened(true)), isQuiet(opened(false))]).toEqual([false, true])
    expect(describeEvent(opened(true))).toContain('quorum 1, degraded: fewer independent judges')
    expect(describeEvent(decided(true))).toBe('PASS, no score (degraded panel): fine')
    expect(describeEvent(decided(false))).toBe('PASS, no score: fine')
  })
})
