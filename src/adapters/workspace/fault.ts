import type { SnapshotProblem } from '../../ports/snapshots.ts'
import { WorkspaceFault } from '../../ports/workspace.ts'

export { WorkspaceFault }

/** Unwraps what the snapshot store answered. */
export function orFault<T extends { ok: true }>(answer: T | { ok: false; problem: SnapshotProblem }): T {
  if (!answer.ok) throw new WorkspaceFault(answer.problem.code, answer.problem.message)
  return answer
}

/** The operating system's code of an error, e.g. `ENOENT`; undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Runs the work; what the operating system refused becomes a fault that says what was being done. Anything else is a bug and passes. */
export async function faulting<T>(doing: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === undefined) throw error
    const full = errno === 'ENOSPC' || errno === 'EDQUOT'
    throw new WorkspaceFault(full ? 'disk_full' : 'io', `${doing}: ${(error as Error).message}`, { cause: error })
  }
}
