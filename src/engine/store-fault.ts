import type { SnapshotProblem } from '../ports/snapshots.ts'

/** What the work is kept in failed: never a verdict about the work, and no bug. Doors say it in a line. */
export class StoreFault extends Error {
  constructor(what: string, problem?: SnapshotProblem) {
    super(`${what}${problem ? `: ${problem.message}` : ''}`)
    this.name = 'StoreFault'
  }
}

const full = new Set(['ENOSPC', 'EDQUOT'])
const failing = new Set(['EIO', 'EROFS'])

/** A failing disk seen from inside a brain is no fault of the brain's: whoever asks for it stops instead of blaming worker or judge. */
export function diskFault(error: unknown): StoreFault | undefined {
  if (error instanceof StoreFault) return error
  const { code, message } = error as { code?: string; message?: string }
  if (code === undefined || !(full.has(code) || failing.has(code))) return undefined
  if (full.has(code))
    return new StoreFault('a brain could not be run', {
      code: 'disk_full',
      message: `The disk is full. Free some space; work goes on once there is room: ${message ?? code}`,
    })
  return new StoreFault('a brain could not be run', { code: 'io', message: message ?? code })
}
