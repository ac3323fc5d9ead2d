import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { JournalFault } from '../../../ports/journal.ts'
import { faultOf } from './faults.ts'
import { readOnly, refuseLost } from './head.ts'
import { applicationId, migrations } from './schema.ts'
import { refuseStrangers } from './strangers.ts'

/** How long a process waits for another one before it gives up. */
export const busyTimeoutMs = 20_000
const checkedAtOpenBytes = 256 * 1024 * 1024
const keptWalBytes = 64 * 1024 * 1024

/** Opens or creates the file. What is not a journal, is damaged, or comes from a newer version is refused and left as it was. */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  let db: DatabaseSync | undefined
  try {
    mkdirSync(dirname(path), { recursive: true })
    refuseUnwritable(path)
    refuseForeignBytes(path)
    refuseLost(path)
    db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableDoubleQuotedStringLiterals: false })
    refuseForeignTables(db, path)
    refuseNewer(db, path)
    await useWriteAheadLog(db)
    db.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${keptWalBytes}`)
    migrate(db, path)
    checkPages(db, path)
    refuseStrangers(db, path)
    return db
  } catch (error) {
    db?.close()
    throw faultOf(error, path)
  }
}

/** Whether a journal can be written where it lies. */
export function isWritable(path: string): boolean {
  try {
    refuseUnwritable(path)
    return true
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** Opens a journal that cannot be written, to look at it: a copy on a read-only disk, somebody else's. Nothing is made or changed. */
export function openForReading(path: string): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    refuseForeignBytes(path)
    refuseLost(path)
    db = readOnly(path)
    refuseForeignTables(db, path)
    refuseNewer(db, path)
    if (schemaVersion(db) < migrations.length)
      throw new JournalFault(
        'read_only',
        `${path} is of an older Assay and cannot be brought up to date here. Copy the folder to where it can be written`,
      )
    checkPages(db, path)
    refuseStrangers(db, path)
    return db
  } catch (error) {
    db?.close()
    throw faultOf(error, path)
  }
}

/** SQLite opens what it cannot write for reading only, and says so at the first write. That is too late to tell somebody who starts. */
function refuseUnwritable(path: string): void {
  accessSync(dirname(path), constants.W_OK)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) accessSync(file, constants.W_OK)
}

function refuseForeignBytes(path: string): void {
  if (!existsSync(path)) return
  const magic = Buffer.alloc(16)
  const file = openSync(path, 'r')
  const length = readSync(file, magic, 0, 16, 0)
  closeSync(file)
  if (length > 0 && magic.toString('latin1') !== 'SQLite format 3\0') {
    throw new JournalFault(
      'not_a_journal',
      `${path} is not an Assay journal: it does not begin like one. It was left untouched; name another path or move it away`,
    )
  }
}

function refuseForeignTables(db: DatabaseSync, path: string): void {
  const tables = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get() as { n: number }
  const id = db.prepare('PRAGMA application_id').get() as { application_id: number }
  if (id.application_id === applicationId || (tables.n === 0 && id.application_id === 0)) return
  throw new JournalFault(
    'not_a_journal',
    `${path} is a database of another program. It was left untouched; name another path or move it away`,
  )
}

function schemaVersion(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

function refuseNewer(db: DatabaseSync, path: string): void {
  const version = schemaVersion(db)
  if (version <= migrations.length) return
  const versions = `schema ${version}, this one knows up to ${migrations.length}`
  throw new JournalFault('not_a_journal', `${path} was written by a newer Assay (${versions}). Update Assay, or use the one that wrote it`)
}

/** Processes that create the same file at once can meet at a lock for which SQLite does not wait by itself. */
async function useWriteAheadLog(db: DatabaseSync): Promise<void> {
  const giveUpAt = performance.now() + busyTimeoutMs
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== 5 || performance.now() > giveUpAt) throw error
      await delay(5)
    }
  }
}

function migrate(db: DatabaseSync, path: string): void {
  if (schemaVersion(db) === migrations.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    // Read again: another process may have been first, and a newer one.
    refuseNewer(db, path)
    for (const step of migrations.slice(schemaVersion(db))) db.exec(step)
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}; COMMIT`)
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Reading every page takes about a millisecond per 1.5 MB; a larger file is checked by `verify`, and by every read of what it holds. */
function checkPages(db: DatabaseSync, path: string): void {
  if (statSync(path).size > checkedAtOpenBytes) return
  const found = db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }
  if (found.quick_check === 'ok') return
  throw new JournalFault(
    'corrupt',
    `${path} is damaged (${found.quick_check}). Stop all processes that use it, keep a copy, and restore the last backup`,
  )
}
