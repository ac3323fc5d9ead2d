import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssayEvent } from '../../../contract/events/manifest.ts'
import { lives, places, upstream } from '../../../testing/task/lives.ts'
import { arbitraryRules, arbitrarySpec, arbitrarySteps, playHistory } from '../../../testing/task/random-history.ts'
import { attemptUpToReview, checks, contentOf, created, start, submit } from '../../../testing/task/steps.ts'
import { rulesWith } from '../../../testing/task/world.ts'
import { evolve, evolveAll } from './evolve.ts'

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) frozen(member)
  }
  return value
}

describe('the state of a task', () => {
  it('is nothing before its creation, whatever happens', () => {
    const [creation, ...rest] = lives['done: clean']().events
    expect(evolveAll(undefined, rest)).toBeUndefined()
    expect(creation && evolve(undefined, creation)).toMatchObject({
      status: 'waiting',
      attempts: 0,
      charged: 0,
      granted: 0,
      reviews: 0,
      stagnated: false,
    })
  })

  it('starts with nothing done, said or asked', () => {
    const { spec, policy, status, ...rest } = lives.waiting().state
    expect({ spec: spec.id, status, policy }).toEqual({ spec: 'mission/task', status: 'waiting', policy: rulesWith().digest })
    expect(rest).toEqual({
      inputs: [],
      staleInputs: [],
      inputChanged: false,
      untold: false,
      attempts: 0,
      charged: 0,
      granted: 0,
      checked: {},
      contents: {},
      authors: [],
      reviews: 0,
      decided: [],
      rejectedByOwner: {},
      rounds: [],
      vetoes: [],
      ledger: [],
      ledgerCount: 0,
      mergeFailures: 0,
      mergedOtherwise: [],
      givenBack: 0,
      behind: false,
      fannedOut: [],
      stagnated: false,
      requests: [],
      requestCount: 0,
    })
  })

  it('does not change with events that are not about tasks', () => {
    for (const place of places) {
      const { state } = lives[place]()
      const foreign = { type: 'mission.finished', data: { mission: 'm', outcome: 'clean', detail: '' } } as AssayEvent
      expect(evolve(state, foreign)).toEqual(state)
    }
  })

  it('does not change with events of an attempt or a review that is not there', () => {
    const { state } = lives.waiting()
    const data = { attempt: 1, review: 1, seat: 1, judge: 'qa' }
    for (const type of ['worker.reminded', 'seat.voided', 'review.decided', 'decision.reused'] as const) {
      expect(evolve(state, { type, data } as unknown as AssayEvent)).toEqual(state)
    }
  })

  it('starts each attempt anew, and each submission within it', () => {
    const task = lives.running()
    const attempt = task.state.current
    expect(attempt).toEqual({
      attempt: 1,
      worker: 'dev',
      conversational: true,
      calls: 0,
      callOpen: false,
      caseErrors: 0,
      checkFailures: 0,
      reminded: false,
      submission: 0,
      checksPassed: false,
      suspicions: [],
      rejudged: false,
    })
    task
      .when({ type: 'report_quiet', attempt: 1 })
      .when(submit(task.state, 'one', { raw: '?' }))
      .when(submit(task.state, 'one'))
    expect(task.state.current).toMatchObject({ reminded: true, caseErrors: 1, submission: 1, content: contentOf('one') })
    task.when({ type: 'fail_task', reason: 'x' }).when({ type: 'reopen_task', by: 'o', reason: 'x' })
    task.when({ type: 'ready_task', inputs: [upstream('d1')] }).when(start(true))
    expect(task.state.current).toEqual({ ...attempt, attempt: 2 })
  })

  it('keeps every content that was ever submitted, by its digest', () => {
    const task = created(rulesWith())
    attemptUpToReview(task, 'one').when({ type: 'fail_task', reason: 'x' }).when({ type: 'reopen_task', by: 'o', reason: 'x' })
    task.when(start()).when(submit(task.state, 'two')).when(checks(task.state))
    expect(Object.keys(task.state.contents)).toEqual([contentOf('one').digest, contentOf('two').digest])
  })

  it('is never changed in place, by no decision and no event', () => {
    fc.assert(
      fc.property(arbitraryRules, arbitrarySpec, arbitrarySteps, (rules, spec, steps) => {
        const history = playHistory(frozen(rules), frozen(spec), steps, (_before, { state, latest }) => {
          frozen(state)
          frozen(latest)
        })
        expect(evolveAll(undefined, history.events)).toEqual(history.state)
      }),
      { numRuns: Number(process.env.ASSAY_PROPERTY_RUNS ?? 100) },
    )
  })
})
