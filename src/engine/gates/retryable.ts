import type { EngineParts } from '../parts.ts'
import type { TaskStore } from '../task/task-store.ts'
import { stoppedGate } from './gates.ts'

export interface Retryable {
  /** To be opened again, in this order: whatever a task depends on comes before it. */
  open: string[]
  /** Tasks that could never begin, and why. */
  shut: Map<string, string>
}

/** The gate that was stopped, and the task right behind it. */
interface Barred {
  gate: string
  task: string
}

/**
 * What has to be opened again for these finished tasks to be done after all: themselves, and whatever they depend on that failed or was
 * skipped. Behind a gate that was stopped for good nothing can begin.
 */
export async function retryable(parts: EngineParts, tasks: Pick<TaskStore, 'load'>, wanted: readonly string[]): Promise<Retryable> {
  const open: string[] = []
  const seen = new Map<string, Barred | undefined>()
  const visit = async (task: string): Promise<Barred | undefined> => {
    if (seen.has(task)) return seen.get(task)
    const { state } = await tasks.load(task)
    const { mission = '', gates = [], dependsOn = [] } = state?.spec ?? {}
    const gate = await stoppedGate(parts, mission, gates)
    let why = gate === undefined ? undefined : { gate, task }
    for (const dependency of dependsOn) {
      if (why !== undefined) break
      const status = (await tasks.load(dependency)).state?.status
      if (status === 'failed' || status === 'skipped') why = await visit(dependency)
    }
    seen.set(task, why)
    if (why === undefined) open.push(task)
    return why
  }
  const shut = new Map<string, string>()
  for (const task of wanted) {
    const why = await visit(task)
    if (why === undefined) continue
    const before = why.task === task ? 'it' : why.task
    shut.set(task, `the gate ${why.gate} before ${before} was stopped; assay run --fresh starts another run`)
  }
  return { open, shut }
}
