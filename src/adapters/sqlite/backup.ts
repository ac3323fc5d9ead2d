import { existsSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { JournalFault } from '../../ports/journal.ts'
import { faultOf } from './file/faults.ts'
import { refuseLost } from './file/head.ts'
import { busyTimeoutMs } from './file/open.ts'

/** Copies a journal as it is at one moment, while others may go on writing. The copy is one file, without a write-ahead log. */
export async function backUpJournal(path: string, to: string): Promise<void> {
  refuseLost(path)
  if (!existsSync(path)) throw new JournalFault('not_a_journal', `there is no journal at ${path}`)
  if (existsSync(to)) throw new JournalFault('io', `${to} exists already: a copy never overwrites`)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path, { timeout: busyTimeoutMs })
    // All pages in one step: a writer in between would make it begin again.
    await backup(db, to, { rate: 2 ** 31 - 1 })
  } catch (error) {
    throw faultOf(error, path)
  } finally {
    db?.close()
  }
}
