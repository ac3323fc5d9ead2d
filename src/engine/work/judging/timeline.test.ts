import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import { timelineOf } from './timeline.ts'

const event = (second: number, type: string, data: object) =>
  ({ type, data, meta: { at: new Date(second * 1000).toISOString(), actor: 'runtime' } }) as unknown as StoredEvent

describe('the timeline of an attempt', () => {
  const events = [
    event(0, 'attempt.started', { attempt: 1, worker: 'dev', sandboxed: true }),
    event(10, 'attempt.started', { attempt: 2, worker: 'dev', sandboxed: false }),
    event(11, 'call.begun', { call: 1, tool: 'run', conversation: { stored: null, said: ['I am sure that this works'] } }),
    event(12.5, 'call.ended', { call: 1, conversation: { stored: null, said: ['it worked'] } }),
    event(13, 'case.submitted', { submission: 1, content: { output: 'héllo', paths: [] }, case: { summary: 'Trust me' } }),
    event(14, 'checks.passed', { reports: [{ id: 'tests', outcome: 'pass' }] }),
  ]

  it('has what the runtime saw of that attempt, by time, and no word of the worker', () => {
    expect(timelineOf(events, 2)).toEqual([
      '+0.0 s  the turn of dev began, without a sandbox',
      '+1.0 s  tool call 1 began: run',
      '+2.5 s  tool call 1 ended',
      '+3.0 s  submission 1: 6 bytes printed, 0 files changed',
      '+4.0 s  check tests: pass',
    ])
    expect(timelineOf(events, 3)).toEqual([])
  })

  it('is bounded, and says what is left out', () => {
    const many = [events[1] as StoredEvent, ...Array.from({ length: 500 }, (_, call) => event(20, 'call.begun', { call, tool: 'run' }))]
    const lines = timelineOf(many, 2)
    expect(lines).toHaveLength(201)
    expect(lines.at(-1)).toContain('301 more')
  })
})
