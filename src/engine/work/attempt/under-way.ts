import type { EngineParts } from '../../parts.ts'

const turns = new WeakMap<EngineParts, Set<string>>()

/** Runs a worker's turn; as long as it lasts, its task is known to be worked on by this process. */
export async function whileUnderWay<T>(parts: EngineParts, task: string, turn: () => Promise<T>): Promise<T> {
  const tasks = turns.get(parts) ?? new Set()
  turns.set(parts, tasks.add(task))
  try {
    return await turn()
  } finally {
    tasks.delete(task)
  }
}

/** A task can be failed or held in the middle of a turn: until the worker has ended, nobody else may have its folder. */
export function isUnderWay(parts: EngineParts, task: string): boolean {
  return turns.get(parts)?.has(task) ?? false
}
