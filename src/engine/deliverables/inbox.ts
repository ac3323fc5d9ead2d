import { durationMs } from '../../contract/config/duration.ts'
import type { Card } from '../../contract/deliverable/deliverable.ts'
import type { Result } from '../../contract/errors.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { GateAnswer } from '../../core/gate/release.ts'
import type { TaskState } from '../../core/task/state.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { cardStream, taskOf } from '../streams.ts'
import { asNew, type TaskStore } from '../task/task-store.ts'
import type { CardState, InboxRow } from '../views/inbox.ts'
import type { TaskRow } from '../views/tasks.ts'
import { textOrder } from '../../contract/canonical.ts'
import { changedRows } from './cards/proven.ts'
import { acceptedGround } from './cards/rests-on.ts'
import { saysAccepted } from './cards/taken-back.ts'
import { cardFrom, hasMoved, recordedCard, recordedCards, toldBy, toldOf } from './cards/recorded.ts'

/** The owner's cards, newest first, as the journal's events have them. One that waited too long counts as expired. */
export async function inboxCards(parts: EngineParts): Promise<InboxRow[]> {
  const found: InboxRow[] = []
  for (const row of [...(await recordedCards(parts.journal)).values()]) found.push(await completed(parts, row))
  return found.sort((one, other) => textOrder(other.at, one.at) || textOrder(other.card, one.card))
}

/** Rows for a list, and the cards whose kept rows somebody changed by hand, listed or not. */
export interface ProvenCards {
  rows: InboxRow[]
  changed: string[]
}

/** Cards that are about to be shown: what they say of a task is read from its events. */
export async function provenCards(parts: EngineParts, rows: readonly InboxRow[]): Promise<ProvenCards> {
  const proven: InboxRow[] = []
  for (const row of rows) {
    const shown = row.about === undefined ? row : await inboxCard(parts, row.card)
    if (shown) proven.push(shown)
  }
  return { rows: proven, changed: await changedRows(parts.journal) }
}

/** One card: what it says and how it stands is read from events, which match their hashes, not from the row that is kept for the list. */
export async function inboxCard(parts: EngineParts, card: string): Promise<InboxRow | undefined> {
  const recorded = await recordedCard(parts.journal, card)
  return recorded && completed(parts, recorded, 'proven')
}

/**
 * The card of a deliverable is headed by what was reviewed: the title that judges were shown. What its sender says besides is kept as a note,
 * which nobody reviewed.
 */
export async function headedByReview(tasks: TaskStore, answer: GateAnswer, judged: TaskState | undefined): Promise<GateAnswer> {
  const { outcome } = answer
  if (outcome.kind !== 'allowed' || outcome.card.task === undefined || outcome.card.from === 'runtime') return answer
  const { title: said, body, ...rest } = outcome.card
  const task = judged?.spec.id === rest.task ? judged : (await tasks.load(outcome.card.task)).state
  const title = task?.spec.title ?? rest.deliverable ?? said
  const card: Card = { ...rest, title, body: '' }
  if (said !== title || body !== '') card.note = { by: rest.from, title: said, body, reviewed: false }
  return { ...answer, outcome: { kind: 'allowed', card } }
}

/** A card that was sent for a deliverable. */
export interface SentCard {
  row: InboxRow
  /** Of its stream, when it was read. */
  version: number
  /** Neither dealt with nor replaced; it may have waited too long. */
  isOpen: boolean
}

/** Cards of a deliverable, newest first, each from its events. */
export async function sentCards(parts: EngineParts, deliverable: string): Promise<SentCard[]> {
  const found: SentCard[] = []
  for (const { row } of await parts.journal.viewRows('cards_of', { prefix: `${deliverable}|` })) {
    const { card } = row as { card: string }
    const events = await parts.journal.readStream(cardStream(card))
    const recorded = cardFrom(events, card)
    if (recorded)
      found.push({ row: await completed(parts, recorded, 'proven'), version: events.length, isOpen: recorded.state === 'pending' })
  }
  return found.sort((one, other) => textOrder(other.row.at, one.row.at))
}

export async function cardsOf(parts: EngineParts, deliverable: string): Promise<InboxRow[]> {
  return (await sentCards(parts, deliverable)).map(({ row }) => row)
}

/**
 * A question shows the task that it is about, as that stands now: by the events of the task. In a list, those that wait for no answer any more are
 * taken as the task's row has them, until they are shown.
 */
async function completed(parts: EngineParts, row: InboxRow, how: 'listed' | 'proven' = 'listed'): Promise<InboxRow> {
  const state = isOver(parts, row) ? ('expired' as const) : row.state
  if (state === 'pending' && saysAccepted(row)) return onGround(parts, row, how)
  const task = row.about === undefined ? undefined : taskOf(row.about)
  if (task === undefined) return { ...row, state, title: row.title || (row.about ?? row.card) }
  const isKept = how === 'listed' && state !== 'pending'
  const kept = isKept ? ((await parts.journal.viewRow('tasks', task)) as TaskRow | undefined) : undefined
  const about = isKept ? kept && toldBy(kept) : await toldOf(parts.journal, task)
  if (!about) return { ...row, state, title: row.title || task }
  const { title, bar, score, flag } = about
  const known = { bar, ...(score && { score }), ...(flag && { flag: flag === 'clean' ? ('pass' as const) : flag }) }
  return { ...row, state, title, task, ...known }
}

/** A card counts for nothing from the moment that something its work rests on does, whether its task was told of it yet or not. */
async function onGround({ journal }: EngineParts, row: InboxRow, how: 'listed' | 'proven'): Promise<InboxRow> {
  const { task } = row
  if (task === undefined || (how === 'listed' && !hasMoved(journal, task))) return row
  const { broken } = await acceptedGround(journal, task)
  return broken ? { ...row, state: 'expired', closed: { at: broken.at, by: 'runtime', reason: broken.why } } : row
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
    const expected = await parts.journal.head(cardStream(card))
    const row = await inboxCard(parts, card)
    if (!row) return { ok: false, error: { code: 'not_found', message: `there is no card ${card}` } }
    if (row.about !== undefined)
      return {
        ok: false,
        error: { code: 'bad_command', message: `${card} asks something: answer it (assay requests answer ${row.request})` },
      }
    const why = row.state === 'expired' && row.closed ? `: ${row.closed.reason}` : ''
    if (row.state !== 'pending') return { ok: false, error: { code: 'wrong_status', message: `${card} is ${row.state} already${why}` } }
    const event: AssayEvent = { type: state === 'handled' ? 'card.handled' : 'card.dismissed', data: { card, by, reason } }
    const ground = saysAccepted(row) ? await acceptedGround(parts.journal, row.task ?? '') : { seen: [] }
    if (ground.broken) continue
    const streams = [{ stream: cardStream(card), expected, events: [asNew(event)] }, ...ground.seen]
    const at = new Date(parts.clock.now()).toISOString()
    const appended = await parts.journal.append({ streams, meta: { at, actor: by }, enqueue: notificationsOf(streams, at, parts.config) })
    if (appended.ok) return { ok: true, value: { ...row, state } }
  }
  return { ok: false, error: { code: 'wrong_status', message: `other writers were first` } }
}
