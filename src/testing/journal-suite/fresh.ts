import { onTestFinished } from 'vitest'
import type { Journal } from '../../ports/journal.ts'
import type { JournalAdapter, OpenOptions } from './adapters.ts'
import { lastValues, total } from './samples.ts'

/** An empty journal that is closed and removed after the test. */
export async function freshJournal(adapter: JournalAdapter, options: Partial<OpenOptions> = {}): Promise<Journal & { place: string }> {
  const place = await adapter.newPlace()
  onTestFinished(() => place.remove())
  const journal = await openAt(adapter, place.name, options)
  return Object.assign(journal, { place: place.name })
}

/** Opens a journal and closes it after the test. */
export async function openAt(adapter: JournalAdapter, place: string, options: Partial<OpenOptions> = {}): Promise<Journal> {
  const journal = await adapter.open(place, { views: [lastValues, total], ...options })
  onTestFinished(() => journal.close())
  return journal
}
