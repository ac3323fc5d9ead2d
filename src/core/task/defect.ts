import { type Decided, Draft, refuse } from './draft.ts'
import { raiseRequest } from './requests.ts'
import type { TaskState } from './state.ts'

/**
 * A decision on this task could not be made because of a defect in Assay. The task is held for the owner, so that the others go on; an open
 * attempt ends as interrupted. Decides nothing itself, and asks no rules, so that the same defect cannot be met again.
 */
export function holdForDefect(state: TaskState, detail: string): Decided {
  const draft = new Draft(state)
  if (state.status === 'running') draft.emit('attempt.interrupted', { attempt: state.attempts, detail })
  else if (state.status !== 'todo' && state.status !== 'checking' && state.status !== 'in_review')
    return refuse('wrong_status', `the task is ${state.status} and cannot be held`)
  const from = state.status === 'running' ? 'todo' : state.status
  draft.emit('task.held', { reason: 'operator', from, detail })
  raiseRequest(draft, 'held', detail)
  return draft.done()
}
