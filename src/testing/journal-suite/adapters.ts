import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import { openSqliteJournal } from '../../adapters/sqlite/journal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Journal, View } from '../../ports/journal.ts'

export interface OpenOptions {
  views: readonly View[]
  clock?: Pick<Clock, 'now'>
}

/** Somewhere empty for a journal, named by a text that another process can be given. */
export interface Place {
  name: string
  remove(): void | Promise<void>
}

/** A journal adapter and what the suite may ask of it. */
export interface JournalAdapter {
  /** Its folder in `src/adapters`. */
  name: string
  /** Whether a journal outlives its process and can be opened by several at once. */
  shared: boolean
  /** Whether it lives in a folder of this machine, so that the disk itself can fail. */
  onDisk: boolean
  newPlace(): Promise<Place>
  open(place: string, options: OpenOptions): Promise<Journal>
}

function newFolder(): Place {
  const name = mkdtempSync(join(tmpdir(), 'assay-journal-'))
  return { name, remove: () => rmSync(name, { recursive: true, force: true }) }
}

/** Every adapter there is. Child processes find theirs here by its name. */
export const journalAdapters = {
  memory: {
    name: 'memory',
    shared: false,
    onDisk: false,
    newPlace: async () => ({ name: 'memory', remove: () => undefined }),
    open: async (_place, options) => openMemoryJournal(options),
  },
  sqlite: {
    name: 'sqlite',
    shared: true,
    onDisk: true,
    newPlace: async () => newFolder(),
    open: (place, options) => openSqliteJournal({ path: join(place, '.assay', 'assay.db'), ...options }),
  },
} satisfies Record<string, JournalAdapter>
