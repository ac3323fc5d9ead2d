import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteJournal } from '../../src/adapters/sqlite/journal.ts'
import type { StoredEvent } from '../../src/contract/events/envelope.ts'
import { engineViews, type TaskRow } from '../../src/engine/views/tasks.ts'
import type { Verification } from '../../src/ports/journal.ts'

/** The journal of a project as it lies on disk. */
export interface JournalState {
  events: StoredEvent[]
  rows: TaskRow[]
  verification: Verification
  /** View rows that a rebuild from the events gives otherwise. */
  differing: { view: string; key: string }[]
}

/** Reads a journal that no process has open, without a command: for tests that look hundreds of times. */
export async function readJournal(folder: string): Promise<JournalState> {
  const journal = await openSqliteJournal({ path: join(folder, '.assay', 'assay.db'), views: engineViews })
  try {
    const rows = await journal.viewRows('tasks')
    return {
      events: await journal.read(0, 100_000),
      rows: rows.map(({ row }) => row as TaskRow),
      verification: await journal.verify(),
      differing: await journal.rebuildViews(),
    }
  } finally {
    await journal.close()
  }
}

/** Every event, read beside whatever process is at work; none where there is no journal yet. */
export async function readEvents(folder: string): Promise<StoredEvent[]> {
  const path = join(folder, '.assay', 'assay.db')
  if (!existsSync(path)) return []
  const journal = await openSqliteJournal({ path, views: engineViews })
  try {
    return await journal.read(0, 100_000)
  } finally {
    await journal.close()
  }
}
