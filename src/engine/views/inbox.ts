import { digestOf } from '../../contract/canonical.ts'
import type { Card } from '../../contract/deliverable/deliverable.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { View } from '../../ports/journal.ts'

export type CardState = 'pending' | 'handled' | 'dismissed' | 'expired'

/** A card in the Inbox; of a question, the stream that it is about is kept and its details are looked up there. */
export interface InboxRow extends Card {
  state: CardState
  at: string
  /** Stream of the task, gate or deliverable that asks. */
  about?: string
  closed?: { at: string; by: string; reason: string }
}

const requestKey = (stream: string): string => `request:${stream}`
/** The stream that a question's card stands for; undefined for a card that somebody sent. */
export function askedIn(card: string): string | undefined {
  return card.startsWith('request:') ? card.slice('request:'.length) : undefined
}
/** Events after which what a task or gate asked needs no answer any more. */
const closing = new Set([
  'operator.answered',
  'hold.lifted',
  'task.accepted',
  'task.failed',
  'task.reopened',
  'gate.reopened',
  'gate.retried',
  'gate.waived',
  'gate.stopped',
])

/** The types of event that change what waits for the owner; no other does. */
export const inboxTypes: readonly string[] = [
  'card.emitted',
  'card.handled',
  'card.dismissed',
  'card.expired',
  'operator.requested',
  ...closing,
]

/** Everything that waits for the owner or did: cards that the gate let through, and questions of the runtime. By card. */
export const inboxView: View<InboxRow> = {
  name: 'inbox',
  keys: (event) => {
    if (event.type.startsWith('card.')) return [(event.data as { card: string }).card]
    return event.type === 'operator.requested' || closing.has(event.type) ? [requestKey(event.stream)] : []
  },
  fold: (row, event) => {
    if (event.type === 'card.emitted') return { ...(event.data as Card), state: 'pending', at: event.meta.at }
    if (event.type === 'operator.requested') return requestRow(event)
    if (!row) return undefined
    if (event.type === 'card.handled' || event.type === 'card.dismissed') {
      const { by, reason } = event.data as EventData<'card.handled'>
      return { ...row, state: event.type === 'card.handled' ? 'handled' : 'dismissed', closed: { at: event.meta.at, by, reason } }
    }
    if (event.type === 'card.expired') {
      const { why } = event.data as EventData<'card.expired'>
      return { ...row, state: 'expired', closed: { at: event.meta.at, by: 'runtime', reason: why } }
    }
    if (row.state !== 'pending') return row
    return { ...row, state: 'handled', closed: { at: event.meta.at, by: event.meta.actor, reason: event.type } }
  },
}

function requestRow({ stream, data, meta }: StoredEvent): InboxRow {
  const { request, kind, detail } = data as EventData<'operator.requested'>
  return {
    card: requestKey(stream),
    type: kind === 'stagnated' || detail.endsWith('the owner decides') ? 'error_alert' : 'operator_request',
    title: '',
    body: detail,
    priority: 'high',
    from: 'runtime',
    judges: [],
    request,
    about: stream,
    state: 'pending',
    at: meta.at,
  }
}

/** Cards of a deliverable, so that a newer one finds those that it replaces. */
export const cardsOfView: View<{ card: string }> = {
  name: 'cards_of',
  keys: (event) => {
    if (event.type !== 'card.emitted') return []
    const { card, deliverable } = event.data as Card
    return deliverable === undefined ? [] : [`${deliverable}|${card}`]
  },
  fold: (_row, event) => ({ card: (event.data as Card).card }),
}

/** Where exactly this was brought last, by what a verdict on it is bound to: under whatever id, it is not judged for a better draw. */
export const subjectsView: View<{ task: string }> = {
  name: 'subjects',
  keys: (event) => (event.type === 'deliverable.submitted' ? [digestOf((event.data as EventData<'deliverable.submitted'>).subject)] : []),
  fold: (_row, event) => ({ task: (event.data as EventData<'deliverable.submitted'>).task }),
}

/** Deliverables, by id: the latest version, and whether its producer asks for a bypass. */
export interface DeliverableRow {
  deliverable: string
  kind: string
  title: string
  producer: string
  task: string
  digest: string
  submission: number
  at: string
  request?: string
}

export const deliverablesView: View<DeliverableRow> = {
  name: 'deliverables',
  keys: (event) => (event.stream.startsWith('deliverable/') ? [event.stream.slice('deliverable/'.length)] : []),
  fold: (row, event) => {
    if (event.type === 'deliverable.submitted') {
      const { deliverable, kind, title, producer, task, digest, submission } = event.data as EventData<'deliverable.submitted'>
      return { ...row, deliverable, kind, title, producer, task, digest, submission, at: event.meta.at }
    }
    if (!row) return undefined
    const { request: _request, ...rest } = row
    if (event.type === 'operator.requested') return { ...row, request: (event.data as EventData<'operator.requested'>).request }
    return event.type === 'operator.answered' ? rest : row
  },
}
