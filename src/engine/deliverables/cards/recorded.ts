import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { Journal } from '../../../ports/journal.ts'
import { recordedRow } from '../../audit/rows.ts'
import { cardStream, missionOf, taskStream } from '../../streams.ts'
import { askedIn, type InboxRow, inboxTypes, inboxView } from '../../views/inbox.ts'
import type { TaskRow } from '../../views/tasks.ts'

/** Events that are looked at in one turn. */
const pageSize = 20_000

/** Nothing that was accepted is taken back without one of these. */
const takesBack = new Set(['task.reopened', 'task.held', 'task.failed', 'merge.failed'])
const lookedAt: readonly string[] = [...new Set([...inboxTypes, ...takesBack])]

type Told = Pick<TaskRow, 'title' | 'bar' | 'score' | 'flag'>

/** What is known of one journal's cards. */
interface Known {
  position: number
  cards: Map<string, InboxRow>
  /** How tasks that ask something stand, each as of a version of its stream. */
  tasks: Map<string, { version: number; told: Told | undefined }>
  /** Missions in which something that was accepted may have been taken back. */
  moved: Set<string>
  /** Looks come one after the other. */
  look: Promise<void>
}

const journals = new WeakMap<Journal, Known>()

function knownOf(journal: Journal): Known {
  const known = journals.get(journal) ?? { position: 0, cards: new Map(), tasks: new Map(), moved: new Set(), look: Promise.resolve() }
  journals.set(journal, known)
  return known
}

/**
 * Every card as the events of the journal come to, each event held against its hash; the rows that are kept for lists are not asked, so that none
 * can be hidden or changed by editing them. The first look goes over the whole journal, later ones over what came since.
 */
export async function recordedCards(journal: Journal): Promise<ReadonlyMap<string, InboxRow>> {
  const known = knownOf(journal)
  const look = known.look.then(() => lookOn(journal, known))
  // Whoever looks finds out about a failure; the next one begins where this one ended.
  known.look = look.catch(() => undefined)
  await look
  return known.cards
}

async function lookOn(journal: Journal, known: Known): Promise<void> {
  for (;;) {
    const { events, position } = await journal.readTypes(lookedAt, known.position, pageSize)
    for (const event of events) {
      if (takesBack.has(event.type)) known.moved.add(missionOf(event.stream) ?? '')
      for (const card of new Set(inboxView.keys(event))) {
        const row = inboxView.fold(known.cards.get(card), event, card)
        if (row === undefined) known.cards.delete(card)
        // As a row that was stored and read again.
        else known.cards.set(card, JSON.parse(JSON.stringify(row)) as InboxRow)
      }
    }
    if (position === known.position) return
    known.position = position
  }
}

/** Whether something in the mission of a task was taken back, as far as all cards were looked at; only then can one have lost its ground. */
export function hasMoved(journal: Journal, task: string): boolean {
  return knownOf(journal).moved.has(missionOf(taskStream(task)) ?? '')
}

/** One card, from the events of its own stream alone. */
export async function recordedCard(journal: Journal, card: string): Promise<InboxRow | undefined> {
  return cardFrom(await journal.readStream(askedIn(card) ?? cardStream(card)), card)
}

/** A card as the events of its stream come to. */
export function cardFrom(events: readonly StoredEvent[], card: string): InboxRow | undefined {
  const own = events.filter((event) => inboxView.keys(event).includes(card))
  const row = own.reduce<InboxRow | undefined>((before, event) => inboxView.fold(before, event, card), undefined)
  return row && (JSON.parse(JSON.stringify(row)) as InboxRow)
}

/** What a question says of the task that it is about. One that is held, or worked on, is accepted no longer, whatever it was before. */
export function toldBy({ title, bar, score, flag, status }: TaskRow): Told {
  return { title, bar, ...(score && { score }), ...(flag && status === 'done' && { flag }) }
}

/** How a task stands by its events; they are read again where there are more of them. */
export async function toldOf(journal: Journal, task: string): Promise<Told | undefined> {
  const { tasks } = knownOf(journal)
  const version = await journal.head(taskStream(task))
  const known = tasks.get(task)
  if (known?.version === version) return known.told
  const row = await recordedRow(journal, task)
  const told = row && toldBy(row)
  tasks.set(task, { version, told })
  return told
}
