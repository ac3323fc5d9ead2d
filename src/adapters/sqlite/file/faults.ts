import { type FaultCode, JournalFault } from '../../../ports/journal.ts'

/** Primary result codes of SQLite that mean something to a caller. */
const byPrimaryCode: Record<number, FaultCode> = {
  3: 'read_only', // PERM
  5: 'busy', // BUSY
  6: 'busy', // LOCKED
  7: 'io', // NOMEM
  8: 'read_only', // READONLY
  10: 'io', // IOERR
  11: 'corrupt', // CORRUPT
  13: 'disk_full', // FULL
  14: 'read_only', // CANTOPEN
  26: 'not_a_journal', // NOTADB
}

/** No room to grow the shared-memory file is reported as an I/O error, but it is a full disk. */
const shmSizeError = 4874

const bySystemCode: Record<string, FaultCode> = {
  EACCES: 'read_only',
  EPERM: 'read_only',
  EROFS: 'read_only',
  // Also what making a folder on a read-only disk comes to.
  ENOENT: 'read_only',
  ENOTDIR: 'read_only',
  EISDIR: 'not_a_journal',
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
}

const advice: Record<FaultCode, string> = {
  disk_full: 'The disk is full. Free some space; nothing was lost, and work goes on once there is room',
  read_only: 'The journal cannot be written. Check that the folder exists, belongs to you and is not mounted read-only',
  corrupt: 'The journal is damaged. Stop all processes that use it, keep a copy, and restore the last backup',
  not_a_journal: 'This file is not an Assay journal. It was left untouched; name another path or move it away',
  busy: 'Another process kept the journal locked. See which one is stuck, and try again',
  io: 'The disk failed. What was not acknowledged may be lost; check the disk, then start again',
  closed: 'The journal was closed',
}

export function isStoreError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && (error as { code?: unknown }).code === 'ERR_SQLITE_ERROR'
}

/** Says in the port's words what went wrong, where, and what to do. Anything that is not the store's fault is passed on as it is. */
export function faultOf(error: unknown, path: string): unknown {
  if (error instanceof JournalFault) return error
  const code = codeOf(error)
  if (code === undefined) return error
  return new JournalFault(code, `${advice[code]}: ${path} (${(error as Error).message})`, { cause: error })
}

function codeOf(error: unknown): FaultCode | undefined {
  if (isStoreError(error)) {
    if (error.errcode === shmSizeError) return 'disk_full'
    // A statement that no longer fits the tables means that somebody changed them.
    return byPrimaryCode[error.errcode & 0xff] ?? 'corrupt'
  }
  const code = (error as { code?: unknown } | null)?.code
  // A number that cannot be one of ours: the stored row was changed.
  if (code === 'ERR_OUT_OF_RANGE') return 'corrupt'
  if (typeof code !== 'string' || !(error instanceof Error) || !('syscall' in error)) return undefined
  return bySystemCode[code] ?? 'io'
}
