import type { StoredEvent } from '../../contract/events/envelope.ts'
import { type Journal, JournalFault } from '../../ports/journal.ts'

const pageSize = 500

/** Reads every event in the order of positions, as far as the journal lets it. Resolves to whether it came to the end. */
export async function walkJournal(journal: Journal, each: (event: StoredEvent) => void): Promise<boolean> {
  let position = 0
  let size = pageSize
  for (;;) {
    const page = await readable(journal, position, size)
    if (page === undefined && size === 1) return false
    if (page === undefined) {
      // The page holds a damaged event: those before it are read one by one.
      size = 1
      continue
    }
    for (const event of page) each(event)
    if (page.length < size) return true
    position = page.at(-1)?.position ?? position
  }
}

async function readable(journal: Journal, after: number, limit: number): Promise<StoredEvent[] | undefined> {
  try {
    return await journal.read(after, limit)
  } catch (error) {
    if (error instanceof JournalFault && error.code === 'corrupt') return undefined
    throw error
  }
}
