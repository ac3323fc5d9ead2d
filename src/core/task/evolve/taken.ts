import { type TaskState, workKey } from '../state.ts'

/** Remembers the work at hand, whose checks have passed. */
export function withChecked(state: TaskState): TaskState {
  const { current, checked } = state
  if (!current?.content) return state
  return { ...state, checked: { ...checked, [workKey(current.attempt, current.content.digest)]: current } }
}

/** The content that is accepted is the work at hand from here on, with the case of its own attempt, whichever attempt came last. */
export function taken(state: TaskState, { attempt, content }: { attempt: number; content: string | null }): TaskState {
  const { current, checked } = state
  if (content === null || (current?.attempt === attempt && current.content?.digest === content)) return state
  const work = checked[workKey(attempt, content)]
  return work ? { ...state, current: work } : state
}
