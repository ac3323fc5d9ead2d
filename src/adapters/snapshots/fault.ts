import type { SnapshotProblem } from '../../ports/snapshots.ts'

/** The store or the folder failed: never a verdict about the work. `corrupt` is an object whose bytes are not those of its name. */
export class SnapshotFault extends Error {
  readonly code: SnapshotProblem['code'] | 'corrupt'
  constructor(code: SnapshotProblem['code'] | 'corrupt', message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SnapshotFault'
    this.code = code
  }
}

/** The folder was changed under our hands; reading it again may succeed. */
export class FolderChanged extends Error {
  constructor(path: string) {
    super(`${path === '' ? 'the folder' : JSON.stringify(path)} changed while it was read`)
    this.name = 'FolderChanged'
  }
}

/** The operating system's code of an error, e.g. `ENOENT`; undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** A path that was there a moment ago leads to nothing, through a link or through a file. */
export function isGone(error: unknown): boolean {
  const errno = errnoOf(error)
  return errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP'
}

/** An expected failure as a fault with a closed code. Anything else is a bug and is thrown on. */
export function faultOf(error: unknown, doing: string): SnapshotFault {
  if (error instanceof SnapshotFault) return error
  if (error instanceof FolderChanged) return new SnapshotFault('changed_while_reading', `${doing}: ${error.message}`, { cause: error })
  const errno = errnoOf(error)
  if (errno === undefined) throw error
  const full = errno === 'ENOSPC' || errno === 'EDQUOT'
  const remedy = full ? 'The disk is full. Free some space; work goes on once there is room: ' : ''
  return new SnapshotFault(full ? 'disk_full' : 'io', `${remedy}${doing}: ${(error as Error).message}`, { cause: error })
}

export function problemOf(error: unknown, doing: string): SnapshotProblem {
  const fault = faultOf(error, doing)
  return { code: fault.code === 'corrupt' ? 'io' : fault.code, message: fault.message }
}
