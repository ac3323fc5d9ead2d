import { digestOf } from '../../contract/canonical.ts'
import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'

import { evolveOutcome } from './evolve-outcome.ts'
import { evolveReview } from './evolve-review.ts'
import type { AttemptState, MaybeTask, TaskState } from './state.ts'

/** The task after an event. Total: an event that means nothing here leaves the state as it is. */
export function evolve(state: MaybeTask, event: AssayEvent): MaybeTask {
  if (event.type === 'task.created') return created(event.data)
  if (!state) return state
  return evolveReview(evolveOutcome(evolveAttempt(state, event), event), event)
}

export function evolveAll(state: MaybeTask, events: readonly AssayEvent[]): MaybeTask {
  return events.reduce(evolve, state)
}

function created({ spec, policy }: EventData<'task.created'>): TaskState {
  return {
    spec,
    policy,
    status: 'waiting',
    inputs: [],
    staleInputs: [],
    inputChanged: false,
    attempts: 0,
    charged: 0,
    granted: 0,
    contents: {},
    authors: [],
    reviews: 0,
    decided: [],
    rejectedByOwner: {},
    rounds: [],
    vetoes: [],
    ledger: [],
    ledgerCount: 0,
    stagnated: false,
    requests: [],
    requestCount: 0,
  }
}

function evolveAttempt(state: TaskState, event: AssayEvent): TaskState {
  switch (event.type) {
    case 'attempt.started': {
      const { attempt, worker, conversational, participants, work } = event.data
      const current: AttemptState = {
        attempt,
        worker,
        conversational,
        ...(work !== undefined && { work }),
        caseErrors: 0,
        checkFailures: 0,
        reminded: false,
        submission: 0,
        checksPassed: false,
        suspicions: [],
        rejudged: false,
      }
      const authors = withNames(state.authors, [worker, ...participants])
      return { ...state, status: 'running', attempts: attempt, charged: state.charged + 1, current, authors, stagnated: false }
    }
    case 'attempt.joined':
      return { ...state, authors: withNames(state.authors, [event.data.participant]) }
    case 'attempt.stopped':
      return { ...state, status: 'todo', charged: state.charged - 1 }
    case 'case.parse_error':
      return inCurrent(state, (current) => ({ ...current, caseErrors: current.caseErrors + 1 }))
    case 'worker.reminded':
      return inCurrent(state, (current) => ({ ...current, reminded: true }))
    case 'case.submitted': {
      const { submission, content } = event.data
      const contents = { ...state.contents, [content.digest]: content }
      return inCurrent({ ...state, status: 'checking', contents }, (current) => ({
        ...current,
        submission,
        case: event.data.case,
        content,
        checksPassed: false,
        suspicions: [],
        rejudged: false,
      }))
    }
    case 'checks.failed':
      return inCurrent({ ...state, status: 'running' }, (current) => ({ ...current, checkFailures: current.checkFailures + 1 }))
    case 'checks.passed':
      return inCurrent({ ...state, status: 'in_review' }, (current) => ({
        ...current,
        checksPassed: true,
        checkedWith: digestOf(state.spec.checks),
        suspicions: event.data.suspicions,
      }))
    case 'checks.requested':
      return inCurrent({ ...state, status: 'checking' }, (current) => ({ ...current, checksPassed: false }))
    default:
      return state
  }
}

function inCurrent(state: TaskState, change: (current: AttemptState) => AttemptState): TaskState {
  return state.current ? { ...state, current: change(state.current) } : state
}

function withNames(names: string[], more: readonly string[]): string[] {
  return [...new Set([...names, ...more])]
}
