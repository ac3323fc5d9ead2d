import { isDeepStrictEqual } from 'node:util'
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
import { askedIn, type CardState, type InboxRow, inboxView } from '../views/inbox.ts'
import type { TaskRow } from '../views/tasks.ts'
import { textOrder } from '../../contract/canonical.ts'

/** The owner's cards, newest first. One that waited too long counts as expired. */
export async function inboxCards(parts: EngineParts): Promise<InboxRow[]> {
  const found: InboxRow[] = []
  for (const { row } of await parts.journal.viewRows('inbox')) found.push(await completed(parts, row as InboxRow))
  return found.sort((one, other) => textOrder(other.at, one.at) || textOrder(other.card, one.card))
}

/** Cards whose events are read at a time. */
const readAtOnce = 50

/** Rows for a list, and the cards whose rows somebody changed by hand. */
export interface ProvenCards {
  rows: InboxRow[]
  changed: string[]
}

/**
 * Cards that are about to be shown. Whichever says how work stands is read from its events, like a card that is shown alone: a row that says
 * something else does not count, and one without events is left out.
 */
export async function provenCards(parts: EngineParts, rows: readonly InboxRow[]): Promise<ProvenCards> {
  const proven: ProvenCards = { rows: [], changed: [] }
  for (let from = 0; from < rows.length; from += readAtOnce) {
    const piece = rows.slice(from, from + readAtOnce)
    for (const [index, { row, changed }] of (await Promise.all(piece.map((one) => provenCard(parts, one)))).entries()) {
      if (row) proven.rows.push(row)
      if (changed) proven.changed.push(piece[index]?.card ?? '')
    }
  }
  return proven
}

async function provenCard(parts: EngineParts, row: InboxRow): Promise<{ row: InboxRow | undefined; changed: boolean }> {
  if (row.flag === undefined && row.type !== 'report_ready') return { row, changed: false }
  const recorded = await inboxCard(parts, row.card)
  if (!recorded) return { row: undefined, changed: true }
  return { row: recorded, changed: !isDeepStrictEqual(recorded, row) && (await isChanged(parts, row.card)) }
}

/** Whether the kept row is not what the card's events come to; one that was moved since it was read is looked at anew. */
async function isChanged(parts: EngineParts, card: string): Promise<boolean> {
  const kept = await parts.journal.viewRow(inboxView.name, card)
  return !isDeepStrictEqual(kept, JSON.parse(JSON.stringify((await recordedCard(parts, card)) ?? null)))
}

/** One card: what it says and how it stands is read from events, which match their hashes, not from the row that is kept for the list. */
export async function inboxCard(parts: EngineParts, card: string): Promise<InboxRow | undefined> {
  const recorded = await recordedCard(parts, card)
  return recorded && completed(parts, recorded)
}

async function recordedCard({ journal }: EngineParts, card: string): Promise<InboxRow | undefined> {
  const stream = askedIn(card) ?? cardStream(card)
  const events = (await journal.readStream(stream)).filter((event) => inboxView.keys(event).includes(card))
  return events.reduce<InboxRow | undefined>((row, event) => inboxView.fold(row, event, card), undefined)
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
