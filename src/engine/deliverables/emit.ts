import type { Card, CardRequest, DeliverableVerdict, GateRefusal } from '../../contract/deliverable/deliverable.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import { requestBypass } from '../../core/gate/deliverable.ts'
import { unacceptedDifferences } from '../../core/policy/accepted.ts'
import { loosenedTerms } from '../../core/policy/of-task.ts'
import { type GateAnswer, mayLeave } from '../../core/gate/release.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { loadOwner } from '../policy/owner.ts'
import { finishAnew } from '../mission/finish.ts'
import { cardStream, deliverableStream, missionOf, ownerStream, refusalStream, taskStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'
import type { TaskStore } from '../task/task-store.ts'
import { durationMs } from '../../contract/config/duration.ts'
import { type Ground, groundOf } from './cards/rests-on.ts'
import { headedByReview, type SentCard, sentCards } from './inbox.ts'
import { givenUpFor, loadDeliverable, maxTries } from './store.ts'

/** What came of a card that somebody sent. */
export type Emitted =
  | { ok: true; card: Card; verdict?: DeliverableVerdict; bypass: boolean }
  | { ok: false; code: GateRefusal | 'busy'; message: string; verdict?: DeliverableVerdict }

export interface Sending {
  /** Who sends it. */
  from: string
  /** Name of the card, where the same cause must not make two. */
  card?: string
  /** Digest of the deliverable's bytes where it lies now, for a source that can be looked at. */
  digestOf?: (source: string) => Promise<string | undefined>
}

/**
 * The one door to the Inbox for a card that somebody sends. The look of the gate, the card, and the end of the cards that it replaces are one
 * transaction, on condition that neither the deliverable nor the task that it was judged in nor what the owner accepts has moved meanwhile. A
 * refusal is recorded, too.
 */
export async function emitCard(parts: EngineParts, tasks: TaskStore, request: CardRequest, sending: Sending): Promise<Emitted> {
  const card = sending.card ?? parts.random.id()
  const id = request.metadata.deliverableId
  for (let tries = 0; tries < maxTries; tries += 1) {
    if (sending.card !== undefined && (await parts.journal.head(cardStream(card))) > 0) return alreadySent(parts, card)
    const looked = await lookAround(parts, tasks, request, { ...sending, card })
    const { deliverable, sent, now } = looked
    const agentsObeyed = parts.config.gate.agentBypass && looked.unaccepted === undefined && request.metadata.evaluatorBypass === true
    const granted =
      deliverable && agentsObeyed ? [bypassOf(deliverable.deliverable, deliverable.latest.digest, sending.from, now, parts)] : []
    const waivable = deliverable && granted.length > 0 && { deliverable: { ...deliverable, bypasses: granted.map(({ data }) => data) } }
    const question = { ...looked, ...waivable, sent: sent.map(({ row }) => row) }
    const answer = await headedByReview(tasks, mayLeave(question), looked.task)
    const { outcome } = answer
    const recorded = lookedAt(answer, { card, by: sending.from, deliverable: id })
    const asks =
      deliverable && outcome.kind === 'refused' && outcome.code === 'bypass_refused'
        ? requestBypass(deliverable, sending.from, request.body)
        : []
    const waives = outcome.kind === 'allowed' && answer.bypass ? granted : []
    // Whoever asks for another's deliverable does not move it.
    const isOwn = deliverable && !(outcome.kind === 'refused' && outcome.recorded !== undefined)
    const streams: StreamAppend[] = [
      isOwn
        ? {
            stream: deliverableStream(deliverable.deliverable),
            expected: looked.version,
            events: [...waives, recorded, ...asks].map(asNew),
          }
        : { stream: refusalStream, expected: await parts.journal.head(refusalStream), events: [asNew(recorded)] },
      ...looked.restsOn,
    ]
    if (outcome.kind === 'allowed') streams.push(...cardWith(outcome.card, sent))
    const at = new Date(now).toISOString()
    const enqueue = notificationsOf(streams, at, parts.config)
    const appended = await parts.journal.append({ streams, meta: { at, actor: sending.from }, enqueue })
    if (appended.ok) return emitted(answer)
  }
  return { ok: false, code: 'busy', message: `other writers were first ${maxTries} times in a row` }
}

/** The same for whoever comes through a door: what the runtime and the owner say is nobody's to send. */
export async function sendCard(parts: EngineParts, tasks: TaskStore, request: CardRequest, sending: Sending): Promise<Emitted> {
  const isReserved = sending.from === 'runtime' || sending.from === 'owner'
  if (isReserved) return refuseSender(parts, request, sending.from)
  const emitted = await emitCard(parts, tasks, request, sending)
  const task = emitted.ok && emitted.card.deliverable !== undefined ? emitted.card.task : undefined
  // What a run had to withhold has reached the owner: its end says so.
  if (task !== undefined) await finishAnew(parts, missionOf(taskStream(task)) ?? '', task)
  return emitted
}

/** Recorded as any other refusal. */
async function refuseSender(parts: EngineParts, request: CardRequest, from: string): Promise<Emitted> {
  const message = `nobody sends cards as ${from}: name the agent that does`
  const bypass = request.metadata.evaluatorBypass === true
  const answer: GateAnswer = { bypass, outcome: { kind: 'refused', code: 'type_reserved', message } }
  const recorded = lookedAt(answer, { card: parts.random.id(), by: from, deliverable: request.metadata.deliverableId })
  for (let tries = 0; tries < maxTries; tries += 1) {
    const streams = [{ stream: refusalStream, expected: await parts.journal.head(refusalStream), events: [asNew(recorded)] }]
    const at = new Date(parts.clock.now()).toISOString()
    const enqueue = notificationsOf(streams, at, parts.config)
    if ((await parts.journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue })).ok) return emitted(answer)
  }
  return { ok: false, code: 'busy', message: `other writers were first ${maxTries} times in a row` }
}

/** Everything that the gate looks at, and the streams that must not have moved when its answer is written. */
async function lookAround(
  parts: EngineParts,
  tasks: TaskStore,
  request: CardRequest,
  { from, card, digestOf }: Sending & { card: string },
) {
  const id = request.metadata.deliverableId
  const { state: deliverable, version } = id === undefined ? { state: undefined, version: 0 } : await loadDeliverable(parts, id)
  const judged = deliverable ? await tasks.load(deliverable.latest.task) : { state: undefined, version: 0 }
  const { source } = deliverable?.latest ?? {}
  const digestNow = source === undefined ? undefined : await digestOf?.(source)
  const now = parts.clock.now()
  const owner = await loadOwner(parts)
  const ground: Ground = judged.state && judged.state.inputs.length > 0 ? await groundOf(parts.journal, judged.state.spec.id) : { seen: [] }
  const restsOn: StreamAppend[] = [{ stream: ownerStream, expected: owner.version, events: [] }]
  const own = judged.state && { stream: taskStream(judged.state.spec.id), expected: judged.version, events: [] }
  if (own) restsOn.push(own, ...ground.seen.filter(({ stream }) => stream !== own.stream))
  return {
    ...{ request, from, card, deliverable, version, digestNow, now, restsOn },
    task: judged.state,
    upstream: ground.broken?.why,
    givenUp: await givenUpFor(parts, judged.state),
    policy: parts.rules.digest,
    unaccepted: unacceptedDifferences(owner.state, parts.rules),
    loosened: judged.state && loosenedTerms(owner.state, parts.rules, judged.state.spec),
    sent: deliverable ? await sentCards(parts, deliverable.deliverable) : [],
  }
}

function emitted({ outcome, verdict, bypass }: GateAnswer): Emitted {
  const known = verdict !== undefined && { verdict }
  if (outcome.kind === 'allowed') return { ok: true, card: outcome.card, bypass, ...known }
  if (outcome.recorded !== undefined) return { ok: false, code: outcome.code, message: outcome.message }
  return { ok: false, code: outcome.code, message: outcome.message, ...known }
}

async function alreadySent(parts: EngineParts, card: string): Promise<Emitted> {
  const [first] = await parts.journal.readStream(cardStream(card))
  const sent = first?.data as Card
  return { ok: true, card: sent, bypass: sent.bypass !== undefined }
}

function lookedAt(
  { verdict, bypass, outcome }: GateAnswer,
  { card, by, deliverable }: { card: string; by: string; deliverable: string | undefined },
): AssayEvent {
  const looked = { card, by, bypass, ...(deliverable !== undefined && { deliverable }), ...(verdict !== undefined && { verdict }) }
  if (outcome.kind === 'allowed') return { type: 'release.allowed', data: looked }
  return { type: 'release.refused', data: { ...looked, code: outcome.code, message: outcome.recorded ?? outcome.message } }
}

function bypassOf(deliverable: string, digest: string, by: string, now: number, { config }: EngineParts) {
  const until = new Date(now + durationMs(config.gate.bypassTtl)).toISOString()
  const reason = 'asked for by the agent, and the policy lets agents waive their review (gate.agentBypass)'
  return { type: 'bypass.granted' as const, data: { deliverable, digest, until, byAgent: true, by, reason } }
}

/** The card, and the end of pending cards of the same deliverable: the newer one takes their place. */
export async function cardStreams(parts: EngineParts, card: Card): Promise<StreamAppend[]> {
  return cardWith(card, card.deliverable === undefined ? [] : await sentCards(parts, card.deliverable))
}

function cardWith(card: Card, sent: readonly SentCard[]): StreamAppend[] {
  const emitted = { stream: cardStream(card.card), expected: 0, events: [asNew({ type: 'card.emitted', data: card })] }
  return [emitted, ...expiries(sent, `replaced by ${card.card}`)]
}

/** Pending cards of a deliverable that nobody may take for its standing any more; of one task, where it is named. */
export async function expireCards(parts: EngineParts, deliverable: string, why: string, task?: string): Promise<'expired' | 'busy'> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const sent = (await sentCards(parts, deliverable)).filter(({ row }) => task === undefined || row.task === task)
    const streams = expiries(sent, why)
    if (streams.length === 0) return 'expired'
    const at = new Date(parts.clock.now()).toISOString()
    if ((await parts.journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue: notificationsOf(streams, at, parts.config) })).ok)
      return 'expired'
  }
  return 'busy'
}

/** Cards that nobody has dealt with, whether they waited too long or not. */
function expiries(sent: readonly SentCard[], why: string): StreamAppend[] {
  return sent.flatMap(({ row: { card }, isOpen, version }) => {
    const event = asNew({ type: 'card.expired', data: { card, why } })
    return isOpen ? [{ stream: cardStream(card), expected: version, events: [event] }] : []
  })
}
