import type { EngineParts } from '../parts.ts'
import type { InboxRow } from '../views/inbox.ts'
import type { TaskRow } from '../views/tasks.ts'
import { recordedCards } from './cards/recorded.ts'
import { groundless } from './cards/groundless.ts'

/** Accepted work that did not reach the owner, and why: its file is not there, its id is somebody else's, nobody accepted the policy. */
export interface Withheld {
  task: string
  /** What the owner was told; nothing where it may yet be shown by itself. */
  card?: string
  why: string
}

const wellEnded = ({ status, flag }: TaskRow): boolean => status === 'done' && (flag === 'clean' || flag === 'owner-accepted')

/** Of each task the newest card of the runtime counts; one that the owner has dealt with withholds nothing. */
export async function withheldOf({ journal }: Pick<EngineParts, 'journal'>, rows: readonly TaskRow[]): Promise<Withheld[]> {
  const ended = new Set(rows.filter(wellEnded).map(({ id }) => id))
  if (ended.size === 0) return []
  const newest = new Map<string, InboxRow>()
  for (const card of (await recordedCards(journal)).values()) {
    if (card.about !== undefined || card.task === undefined || !ended.has(card.task)) continue
    if (card.at >= (newest.get(card.task)?.at ?? '')) newest.set(card.task, card)
  }
  const told = [...newest.values()]
    .filter(({ type, state }) => type !== 'report_ready' && state === 'pending')
    .map(({ task = '', card, body }) => ({ task, card, why: body }))
  const known = new Set(told.map(({ task }) => task))
  return [...told, ...(await groundless(journal, ended)).filter(({ task }) => !known.has(task))]
}
