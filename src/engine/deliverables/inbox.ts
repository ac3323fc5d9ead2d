import { durationMs } from '../../contract/config/duration.ts'
import type { Result } from '../../contract/errors.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { cardStream, taskOf } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import { askedIn, type CardState, type InboxRow, inboxView } from '../views/inbox.ts'
import type { TaskRow } from '../views/tasks.ts'
import { textOrder } from '../../contract/canonical.ts'

/** The owner's cards, newest first. One that waited too long counts as expired. */
export async function inboxCards(parts: EngineParts): Promise<InboxRow[]> {
  const found: InboxRow[] = []
  for (const { row } of await parts.journal.viewRows('inbox')) found.push(await completed(parts, row as InboxRow))
  return found.sort((one, other) => textOrder(other.at, one.at) || textOrder(other.card, one.card))
}

/** One card: what it says and how it stands is read from events, which match their hashes, not from the row that is kept for the list. */
export async function inboxCard(parts: EngineParts, card: string): Promise<InboxRow | undefined> {
  const stream = askedIn(card) ?? cardStream(card)
  const events = (await parts.journal.readStream(stream)).filter((event) => inboxView.keys(event).includes(card))
  const recorded = events.reduce<InboxRow | undefined>((row, event) => inboxView.fold(row, event, card), undefined)
  return recorded && completed(parts, recorded)
}

/** Cards of a deliverable, newest first. */
export async function cardsOf(parts: EngineParts, deliverable: string): Promise<InboxRow[]> {
  const found: InboxRow[] = []
  for (const { row } of await parts.journal.viewRows('cards_of', { prefix: `${deliverable}|` })) {
    const card = await inboxCard(parts, (row as { card: string }).card)
    if (card) found.push(card)
  }
  return found.sort((one, other) => textOrder(other.at, one.at))
}

/** A question shows the task that it is about, as that stands now. */
async function completed(parts: EngineParts, row: InboxRow): Promise<InboxRow> {
  const state = isOver(parts, row) ? ('expired' as const) : row.state
  const task = row.about === undefined ? undefined : taskOf(row.about)
  if (task === undefined) return { ...row, state, title: row.title || (row.about ?? row.card) }
  const about = (await parts.journal.viewRow('tasks', task)) as TaskRow | undefined
  if (!about) return { ...row, state, title: row.title || task }
  const { title, bar, score, flag } = about
  const known = { bar, ...(score && { score }), ...(flag && { flag: flag === 'clean' ? ('pass' as const) : flag }) }
  return { ...row, state, title, task, ...known }
}

function isOver({ clock, config }: EngineParts, { state, at, about }: InboxRow): boolean {
  return state === 'pending' && about === undefined && Date.parse(at) + durationMs(config.inbox.expireAfter) <= clock.now()
}

/** The owner has dealt with a card, or does not want to. A question is answered, not put away: it would still wait. */
export async function closeCard(
  parts: EngineParts,
  card: string,
  { state, by, reason }: { state: Exclude<CardState, 'pending' | 'expired'>; by: string; reason: string },
): Promise<Result<InboxRow>> {
  for (let tries = 0; tries < 5; tries += 1) {
    const row = await inboxCard(parts, card)
    if (!row) return { ok: false, error: { code: 'not_found', message: `there is no card ${card}` } }
    if (row.about !== undefined)
      return {
        ok: false,
        error: { code: 'bad_command', message: `${card} asks something: answer it (assay requests answer ${row.request})` },
      }
    if (row.state !== 'pending') return { ok: false, error: { code: 'wrong_status', message: `${card} is ${row.state} already` } }
    const event: AssayEvent = { type: state === 'handled' ? 'card.handled' : 'card.dismissed', data: { card, by, reason } }
    const streams = [{ stream: cardStream(card), expected: await parts.journal.head(cardStream(card)), events: [asNew(event)] }]
    const at = new Date(parts.clock.now()).toISOString()
    const appended = await parts.journal.append({ streams, meta: { at, actor: by }, enqueue: notificationsOf(streams, at, parts.config) })
    if (appended.ok) return { ok: true, value: { ...row, state } }
  }
  return { ok: false, error: { code: 'wrong_status', message: `other writers were first` } }
}
