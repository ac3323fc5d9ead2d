import { isDeepStrictEqual } from 'node:util'
import type { Journal } from '../../../ports/journal.ts'
import { cardStream } from '../../streams.ts'
import { askedIn, inboxView } from '../../views/inbox.ts'
import { recordedCard, recordedCards } from './recorded.ts'

/** How often a card that others are moving meanwhile is looked at again. */
const maxLooks = 5

/** Cards whose kept rows are not what the events come to: changed by hand, deleted, or nobody's. */
export async function changedRows(journal: Journal): Promise<string[]> {
  const kept = new Map((await journal.viewRows(inboxView.name)).map(({ key, row }) => [key, row]))
  const recorded = await recordedCards(journal)
  const suspects = [...recorded].filter(([card, row]) => !isDeepStrictEqual(kept.get(card), row)).map(([card]) => card)
  for (const card of kept.keys()) if (!recorded.has(card)) suspects.push(card)
  const changed: string[] = []
  for (const card of suspects) if (await isChanged(journal, card)) changed.push(card)
  return changed
}

/** What was read of the row before and after the events, and is the same, was there while they were read. */
async function isChanged(journal: Journal, card: string): Promise<boolean> {
  const stream = askedIn(card) ?? cardStream(card)
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const version = await journal.head(stream)
    const kept = await journal.viewRow(inboxView.name, card)
    const recorded = await recordedCard(journal, card)
    if ((await journal.head(stream)) === version) return !isDeepStrictEqual(kept, recorded)
  }
  return false
}
