import type { AssayEvent, EventData } from '../../../contract/events/manifest.ts'
import { decisionOn, type TaskState } from '../state.ts'
import { withEntry } from './review.ts'
import { taken } from './taken.ts'

/** What endings, holds, the operator and inputs do to the task. */
export function evolveOutcome(state: TaskState, event: AssayEvent): TaskState {
  switch (event.type) {
    case 'task.readied':
      return { ...state, status: 'todo', inputs: event.data.inputs, untold: false }
    case 'task.blocked':
      return { ...state, status: 'waiting' }
    case 'task.unreadied':
      return { ...state, status: 'waiting', staleInputs: [], inputChanged: false }
    case 'task.skipped':
      return { ...state, status: 'skipped', untold: true }
    case 'task.returned':
      return { ...state, status: 'todo', feedback: event.data.feedback }
    case 'task.stagnated':
      return { ...state, stagnated: true }
    case 'restore.requested': {
      const { attempt, content, why } = event.data
      return { ...state, status: 'in_review', restoring: { attempt, content, why } }
    }
    case 'task.accepted':
      return accepted(taken(state, event.data), event.data)
    case 'task.force_accepted':
      return ended(taken(state, event.data), { flag: 'below-threshold', content: event.data.content, score: event.data.score })
    case 'task.failed':
      return {
        ...ended(state),
        ...(state.status === 'running' && state.current && { current: { ...state.current, cutOff: true } }),
        status: 'failed',
        untold: true,
      }
    case 'task.delegated':
      return { ...state, fannedOut: [...state.fannedOut, event.data.content] }
    case 'task.held': {
      const { reason, from, detail } = event.data
      return { ...state, status: 'held', hold: { reason, from, detail }, ...(state.hold && { formerHold: state.hold }) }
    }
    case 'hold.lifted':
      return lifted(state, event.data)
    case 'task.reopened':
      return reopened(state)
    case 'attempts.granted':
      return { ...state, granted: state.granted + event.data.count }
    case 'task.overruled':
      return overruled(state, event.data)
    case 'task.reset': {
      const { feedback: _forgotten, current, ...rest } = state
      if (!current) return { ...rest, ledger: [], rounds: [] }
      // Its feedback stands in the conversation too.
      const { conversation: _said, ...attempt } = current
      return { ...rest, current: attempt, ledger: [], rounds: [] }
    }
    case 'policy.adopted': {
      const { policy, bar, dimensions, checks, criteria = state.spec.criteria } = event.data
      const { restoring: _chosenBefore, merging: _mergedBefore, ...rest } = state
      return { ...rest, policy, spec: { ...state.spec, bar, dimensions, checks, criteria } }
    }
    default:
      return evolveInputs(state, event)
  }
}

function evolveInputs(state: TaskState, event: AssayEvent): TaskState {
  switch (event.type) {
    case 'input.reopened':
      return { ...state, staleInputs: [...state.staleInputs, event.data.task] }
    case 'input.landed': {
      const { input } = event.data
      const before = state.inputs.find((one) => one.task === input.task)
      return {
        ...state,
        inputs: state.inputs.map((one) => (one.task === input.task ? input : one)),
        staleInputs: state.staleInputs.filter((task) => task !== input.task),
        inputChanged: state.inputChanged || before?.digest !== input.digest,
      }
    }
    case 'operator.requested': {
      const { request, answers } = event.data
      const asked = { request, answers, ...(state.hold && { about: state.hold.reason }) }
      return { ...state, requests: [...state.requests, asked], requestCount: state.requestCount + 1 }
    }
    case 'operator.answered':
      return { ...state, requests: state.requests.filter((one) => one.request !== event.data.request) }
    default:
      return state
  }
}

/** Requests about the hold go with it; a hold underneath, or a finished task, comes back with its own. */
function lifted(state: TaskState, { to, reason }: EventData<'hold.lifted'>): TaskState {
  const { hold: _lifted, formerHold, ...rest } = state
  const requests = state.requests.filter((one) => one.about !== reason)
  if (to === 'held' && formerHold) return { ...rest, status: 'held', hold: formerHold, requests }
  return { ...rest, status: to, requests }
}

/** Nothing is asked of the worker any more. */
function accepted(state: TaskState, { flag, content, score }: EventData<'task.accepted'>): TaskState {
  const { feedback: _answered, ...rest } = state
  return ended(rest, { flag, content, ...(score && { score }) })
}

/** An ending closes whatever was open: hold, review, restore. */
function ended(state: TaskState, done?: NonNullable<TaskState['done']>): TaskState {
  const { hold: _hold, formerHold: _former, panel: _panel, restoring: _restoring, merging: _merging, done: _done, ...rest } = state
  return { ...rest, status: 'done', staleInputs: [], inputChanged: false, requests: [], ...(done && { done }) }
}

function reopened(state: TaskState): TaskState {
  const { done: _done, hold: _hold, formerHold: _former, panel: _panel, restoring: _restoring, merging: _merging, ...rest } = state
  const { dependsOn, gates = [] } = rest.spec
  const status = rest.attempts === 0 && (rest.inputs.length < dependsOn.length || gates.length > 0) ? 'waiting' : 'todo'
  return { ...rest, status, stagnated: false, behind: rest.merged !== undefined, requests: [], staleInputs: [], inputChanged: false }
}

/** The owner's word replaces the remembered decision, so that the same content is not accepted or rejected on the old one. */
function overruled(state: TaskState, { outcome, reason }: EventData<'task.overruled'>): TaskState {
  const content = state.done?.content ?? state.current?.content?.digest
  const verdict = outcome === 'pass' ? ('pass' as const) : ('reject' as const)
  const decided = state.decided.map((one) =>
    one.subject.content !== content
      ? one
      : {
          ...one,
          overruled: outcome,
          decision: {
            ...one.decision,
            outcome: verdict,
            category: verdict === 'reject' ? (one.decision.category ?? ('acceptance_gap' as const)) : null,
            concern: reason,
            points: verdict === 'reject' ? [{ from: 'owner', text: reason }] : [],
          },
        },
  )
  const others = Object.fromEntries(Object.entries(state.rejectedByOwner).filter(([digest]) => digest !== content))
  const undecided = content !== undefined && decisionOn(state, content) === undefined
  const rejectedByOwner = outcome === 'fail' && undecided ? { ...others, [content]: reason } : others
  return withEntry(
    // What the owner takes rests on the inputs as they were; what the owner turns down is begun anew on what they are.
    { ...state, decided, rejectedByOwner, untold: true },
    {
      attempt: state.attempts,
      source: 'owner',
      outcome: verdict,
      category: verdict === 'reject' ? 'acceptance_gap' : null,
      concern: reason,
      points: verdict === 'reject' ? [reason] : [],
      pointers: [],
      ...(content && { content }),
    },
  )
}
