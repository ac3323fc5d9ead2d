import type { Content } from '../../contract/case.ts'
import type { TaskInput, TaskSpec } from '../../contract/task.ts'
import type { TaskState } from '../../core/task/state.ts'
import { inputFrom } from './prefix.ts'

/** What others need of a task that is done. */
export interface EndedTask {
  version: number
  input: TaskInput
  spec: Pick<TaskSpec, 'title' | 'workspace'>
  content: Content | undefined
}

/** What these may weigh together, in bytes; the oldest are forgotten first. */
const maxWeight = 10 * 1024 * 1024

/** Tasks that are done, as far as others depend on them: many more than could be kept in full, where one waits for thousands. */
export class EndedTasks {
  readonly #kept = new Map<string, EndedTask>()
  #weight = 0

  /** The task as of this version; undefined where that is not kept, or it was not done then. */
  get(task: string, version: number): EndedTask | undefined {
    const kept = this.#kept.get(task)
    return kept?.version === version ? kept : undefined
  }

  see(task: string, state: TaskState | undefined, version: number): void {
    this.#forget(task)
    const ended = state && endedOf(state, version)
    if (!ended) return
    this.#kept.set(task, ended)
    this.#weight += weightOf(ended)
    for (const oldest of this.#kept.keys()) {
      if (this.#weight <= maxWeight) break
      this.#forget(oldest)
    }
  }

  #forget(task: string): void {
    const kept = this.#kept.get(task)
    if (!kept) return
    this.#kept.delete(task)
    this.#weight -= weightOf(kept)
  }
}

/** Undefined where the task is not done. */
export function endedOf(state: TaskState, version: number): EndedTask | undefined {
  const input = inputFrom(state)
  if (!input) return undefined
  const { title, workspace } = state.spec
  return { version, input, spec: { title, workspace }, content: state.contents[input.digest] }
}

/** About what one takes in memory: itself, its output and the names of its files. */
function weightOf({ content }: EndedTask): number {
  let weight = 1024 + (content?.output?.length ?? 0)
  for (const path of content?.paths ?? []) weight += 64 + path.length
  return weight
}
