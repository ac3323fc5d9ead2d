import { digestOf } from '../../../contract/canonical.ts'
import type { Conversation } from '../../../contract/case.ts'
import type { AssayEvent, EventData } from '../../../contract/events/manifest.ts'

import { evolveMerge } from './merge.ts'
import { evolveOutcome } from './outcome.ts'
import { evolveReview } from './review.ts'
import type { AttemptState, MaybeTask, TaskState } from '../state.ts'
import { withChecked } from './taken.ts'

/** The task after an event. Total: an event that means nothing here leaves the state as it is. */
export function evolve(state: MaybeTask, event: AssayEvent): MaybeTask {
  if (event.type === 'task.created') return created(event.data)
  if (!state) return state
  return evolveMerge(evolveReview(evolveOutcome(evolveAttempt(state, event), event), event), event)
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
    stagnated: false,
    fannedOut: [],
    requests: [],
    requestCount: 0,
  }
}

function evolveAttempt(state: TaskState, event: AssayEvent): TaskState {
  switch (event.type) {
    case 'attempt.started':
      return begun(state, event.data)
    case 'attempt.joined':
      return { ...state, authors: withNames(state.authors, [event.data.participant]) }
    case 'attempt.stopped':
      return { ...state, status: 'todo', charged: state.charged - 1 }
    case 'case.parse_error':
      return inCurrent(state, (current) => ({ ...current, ...goesOn(event.data), caseErrors: current.caseErrors + 1 }))
    case 'worker.reminded':
      return inCurrent(state, (current) => ({ ...current, ...goesOn(event.data), reminded: true }))
    case 'conversation.kept':
      return inCurrent(state, (current) => ({ ...current, ...goesOn(event.data) }))
    case 'call.begun': {
      const { call, conversation, usage } = event.data
      return inCurrent(state, ({ used: _former, ...current }) => ({
        ...current,
        calls: call,
        callOpen: true,
        conversation,
        ...(usage && { used: usage }),
      }))
    }
    case 'usage.counted':
      return event.data.as === 'working' ? inCurrent(state, (current) => ({ ...current, counted: true })) : state
    case 'call.ended':
      return inCurrent(state, (current) => ({ ...current, callOpen: false, conversation: event.data.conversation }))
    case 'case.submitted': {
      const { submission, content } = event.data
      const contents = { ...state.contents, [content.digest]: content }
      const mergedOtherwise = state.mergedOtherwise.filter((digest) => digest !== content.digest)
      return inCurrent({ ...state, status: 'checking', contents, mergedOtherwise }, (current) => ({
        ...current,
        ...goesOn(event.data),
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
      return withChecked(
        inCurrent({ ...state, status: 'in_review' }, (current) => ({
          ...current,
          checksPassed: true,
          checkedWith: digestOf(state.spec.checks),
          suspicions: event.data.suspicions,
        })),
      )
    case 'checks.requested':
      return inCurrent({ ...state, status: 'checking' }, (current) => ({ ...current, checksPassed: false }))
    default:
      return state
  }
}

/** Where a conversation goes on, in an event that says so. */
function goesOn({ conversation }: { conversation?: Conversation | undefined }): { conversation?: Conversation } {
  return conversation === undefined ? {} : { conversation }
}

function begun(
  state: TaskState,
  { attempt, worker, conversational, participants, work, outside }: EventData<'attempt.started'>,
): TaskState {
  const said = conversational ? state.current?.conversation : undefined
  const current: AttemptState = {
    attempt,
    worker,
    conversational,
    ...(said !== undefined && { conversation: said }),
    calls: 0,
    callOpen: false,
    ...(work !== undefined && { work }),
    ...(outside && { outside }),
    caseErrors: 0,
    checkFailures: 0,
    reminded: false,
    submission: 0,
    checksPassed: false,
    suspicions: [],
    rejudged: false,
  }
  const authors = withNames(state.authors, [worker, ...participants])
  return { ...state, status: 'running', attempts: attempt, charged: state.charged + 1, current, authors, stagnated: false, behind: false }
}

function inCurrent(state: TaskState, change: (current: AttemptState) => AttemptState): TaskState {
  return state.current ? { ...state, current: change(state.current) } : state
}

function withNames(names: string[], more: readonly string[]): string[] {
  return [...new Set([...names, ...more])]
}
