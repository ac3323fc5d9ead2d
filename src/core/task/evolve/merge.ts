import { digestOf } from '../../../contract/canonical.ts'
import type { AssayEvent, EventData } from '../../../contract/events/manifest.ts'
import { feedbackOnEnding } from '../../ledger/feedback.ts'
import { withEntry } from './review.ts'
import { taken, withChecked } from './taken.ts'
import type { TaskState } from '../state.ts'

/** What joining the mission's branch does to the task. */
export function evolveMerge(state: TaskState, event: AssayEvent): TaskState {
  switch (event.type) {
    case 'merge.requested':
      return { ...without(taken(state, event.data.acceptance)), status: 'in_review', merging: { acceptance: event.data.acceptance } }
    case 'merge.checked': {
      const { commit, onto } = event.data
      return state.merging ? { ...state, merging: { ...state.merging, merge: { commit, onto } } } : state
    }
    case 'merge.changed':
      return changed(state, event.data)
    case 'merge.failed':
      return failed(state, event.data)
    case 'merge.published':
      return { ...state, merged: event.data.content, mergeFailures: 0 }
    default:
      return state
  }
}

/** A merge that is under way ends whatever the task waited for before. */
function without(state: TaskState): TaskState {
  const { hold: _hold, formerHold: _former, panel: _panel, restoring: _restoring, done: _done, merging: _merging, ...rest } = state
  return { ...rest, staleInputs: [], inputChanged: false, requests: [] }
}

/** The merge's content takes the place of what was submitted; its checks have passed. */
function changed(state: TaskState, { content }: EventData<'merge.changed'>): TaskState {
  const { merging, ...before } = state
  const replaced = merging?.acceptance.content
  const mergedOtherwise = typeof replaced === 'string' ? [...state.mergedOtherwise, replaced] : state.mergedOtherwise
  const rest = { ...before, mergedOtherwise }
  const contents = { ...state.contents, [content.digest]: content }
  if (!rest.current) return { ...rest, contents, behind: true }
  const current = { ...rest.current, content, checksPassed: true, checkedWith: digestOf(state.spec.checks), rejudged: false }
  return withChecked({ ...rest, contents, current, behind: true })
}

function failed(state: TaskState, { attempt, detail, paths, reports, charged }: EventData<'merge.failed'>): TaskState {
  const { merging: _over, ...rest } = state
  const feedback = feedbackOnEnding(state.feedback, { cause: 'rejected', detail, reports })
  const entry = {
    attempt,
    source: 'mechanical',
    outcome: 'reject',
    category: 'acceptance_gap',
    concern: detail,
    points: [],
    pointers: paths,
  } as const
  const told = withEntry(
    { ...rest, feedback, behind: true, mergeFailures: state.mergeFailures + 1 },
    { ...entry, points: [], pointers: [...paths] },
  )
  return charged ? told : { ...told, charged: told.charged - 1, givenBack: state.attempts }
}
