import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type Card, CardRequest, DeliverableId } from '../../../contract/deliverable/deliverable.ts'
import { Bypassed, CardSent, DeliverableDetail, DeliverableItem, SendCard, SubmitDeliverable } from '../../../contract/http/deliverable.ts'
import { NeededReason } from '../../../contract/http/mission.ts'
import { deliverableReview, reviewDeliverable } from '../../../engine/deliverables/review.ts'
import type { DeliverableRow } from '../../../engine/views/inbox.ts'
import { refuse, type Refused, refusedBy } from '../answer/problem.ts'
import type { Answer } from '../answer/reply.ts'
import type { Who } from '../authority/who.ts'
import type { Door } from '../door.ts'
import { waitFor } from '../jobs.ts'
import { listOf, pageOf, Paging } from '../page.ts'
import { route } from '../route.ts'
import { storeSent } from './brought.ts'
import { inName, requestName, ownDeliverable } from './own.ts'
import { Waiting } from './waiting.ts'

const params = z.object({ deliverable: DeliverableId.describe('Id of the deliverable; `/` written `%2F`.') })

const looking = [
  route({
    method: 'get',
    path: '/v1/deliverables',
    scope: 'worker',
    tag: 'deliverables',
    summary: 'The latest version of every deliverable. A worker sees its own.',
    query: z.object(Paging),
    reply: listOf(DeliverableItem),
    handle: async ({ door, who, query }) => {
      const all = await door.engine.deliverables()
      const own = who.scope === 'owner' ? all : all.filter(({ producer }) => producer === who.name)
      const key = ({ deliverable }: DeliverableRow) => deliverable
      return {
        body: pageOf(
          own.sort((one, other) => (key(one) < key(other) ? -1 : 1)),
          key,
          query,
        ),
      }
    },
  }),
  route({
    method: 'get',
    path: '/v1/deliverables/{deliverable}',
    scope: 'worker',
    tag: 'deliverables',
    summary: 'One deliverable, and where its review stands.',
    params,
    query: Waiting,
    reply: DeliverableDetail,
    handle: async ({ door, who, params: { deliverable }, query: { wait } }) => {
      const found = await ownDeliverable(door, who, deliverable)
      if ('refused' in found) return found
      const job = door.submissions.find(deliverable, who)
      if (job) await waitFor(job, wait)
      return standingOf(door, who, deliverable, 200)
    },
  }),
]

const bringing = [
  route({
    method: 'post',
    path: '/v1/deliverables/{deliverable}/submissions',
    scope: 'worker',
    tag: 'deliverables',
    summary: 'Bring a version for review. The same bytes are never judged twice.',
    params,
    query: Waiting,
    body: SubmitDeliverable,
    reply: DeliverableDetail,
    status: [200, 202],
    handle: async ({ door, who, params: { deliverable }, body, query: { wait } }) => {
      const found = await ownDeliverable(door, who, deliverable)
      if ('refused' in found) return found
      const producer = inName(who, body.worker) ?? found.row?.producer
      if (producer === undefined) return refuse('invalid_request', 'the owner names the producer in `worker`')
      const stored = await storeSent(door.engine.parts.snapshots, body)
      if ('refused' in stored) return stored
      if (door.submissions.isOpen(deliverable)) return refuse('under_review', `${deliverable} is under review; ask for it again`)
      const { title, description, criteria } = body
      const brought = {
        deliverable,
        title,
        producer,
        ...stored,
        ...(description !== undefined && { description }),
        ...(criteria && { criteria }),
      }
      const job = door.submissions.start(deliverable, who, () => reviewDeliverable(door.engine, brought, door.stop))
      if (!job) return refuse('busy', 'too many reviews are under way; try again when one has ended')
      await waitFor(job, wait)
      if (job.error !== undefined) throw job.error
      if (job.value && !job.value.ok) return refusedBy(job.value.error)
      return standingOf(door, who, deliverable, job.value ? 200 : 202)
    },
  }),
  route({
    method: 'post',
    path: '/v1/cards',
    scope: 'worker',
    tag: 'deliverables',
    summary: 'Send a card through the gate: the only way to the owner. With an Idempotency-Key the same card is never sent twice.',
    body: SendCard,
    reply: CardSent,
    status: [201],
    handle: async ({ door, who, body: { worker, ...request }, key }) => {
      const from = inName(who, worker) ?? who.name
      const card = key === undefined ? {} : { card: requestName(from, key) }
      const wanted = CardRequest.parse(request)
      const sent = await door.engine.emitCard(wanted, { from, ...card, digestOf: (source) => door.digestNow(source) })
      if (!sent.ok) return refusedCard(door, who, wanted.metadata.deliverableId, sent)
      if (!says(sent.card, wanted))
        return refuse('key_reused', `another card came under this Idempotency-Key before, and is ${sent.card.card}: use a new one`)
      if (sent.bypass) door.log(`WARN: ${sent.card.deliverable} is handed over UNREVIEWED: ${sent.card.bypass?.by} waived its review`)
      return { status: 201, body: { card: sent.card, bypass: sent.bypass, ...(sent.verdict !== undefined && { verdict: sent.verdict }) } }
    },
  }),
  route({
    method: 'post',
    path: '/v1/deliverables/{deliverable}/bypass',
    scope: 'owner',
    tag: 'deliverables',
    summary: 'Waive the review of the latest version, of exactly its bytes and for a time.',
    params,
    body: NeededReason,
    reply: Bypassed,
    handle: async ({ door, who, params: { deliverable }, body: { reason } }) => {
      const waived = await door.engine.bypass(deliverable, { by: who.name, reason })
      if (!waived.ok) return refusedBy(waived.error)
      const granted = waived.value.bypasses.at(-1)
      if (!granted) throw new Error(`the bypass of ${deliverable} is gone`)
      door.log(`WARN: ${who.name} waived the review of ${deliverable}, for ${granted.digest} alone; its card stays marked UNREVIEWED`)
      return { body: { deliverable, digest: granted.digest, until: granted.until, by: granted.by } }
    },
  }),
]

/** The gate's refusal. Of another's deliverable a worker hears what it hears where there is none. */
async function refusedCard(door: Door, who: Who, id: string | undefined, { code, message, verdict }: RefusedCard): Promise<Refused> {
  const found = id === undefined ? undefined : await ownDeliverable(door, who, id)
  const isOwn = found !== undefined && 'row' in found && found.row !== undefined
  if (code === 'deliverable_unknown' && who.scope === 'worker' && !isOwn)
    return refuse(code, `there is no deliverable ${id}; have it reviewed first`)
  return refuse(code, message, verdict === undefined ? {} : { verdict })
}

type RefusedCard = Extract<Awaited<ReturnType<Door['engine']['emitCard']>>, { ok: false }>

/** A card is what was asked for: what its sender said with a deliverable is its note where judges were shown something else. */
function says({ type, title, body, priority, deliverable, note }: Card, wanted: CardRequest): boolean {
  const said = [type, note?.title ?? title, note?.body ?? body, priority, deliverable]
  return isDeepStrictEqual(said, [wanted.type, wanted.title, wanted.body, wanted.priority, wanted.metadata.deliverableId])
}

/** While this server is at it there may be no row yet: then only that is said. */
async function standingOf(
  door: Door,
  who: Who,
  deliverable: string,
  status: 200 | 202,
): Promise<Answer<z.input<typeof DeliverableDetail>>> {
  const found = await ownDeliverable(door, who, deliverable)
  if ('refused' in found) return found
  const busy = door.submissions.isOpen(deliverable)
  if (!found.row && !busy) return refuse('not_found', `there is no deliverable ${deliverable}`)
  const review = await deliverableReview(door.engine, deliverable)
  const headers = { location: `/v1/deliverables/${encodeURIComponent(deliverable)}` }
  const body = {
    state: busy ? ('reviewing' as const) : ('standing' as const),
    ...(found.row && { deliverable: found.row }),
    ...(review && { review }),
  }
  return { status, headers, body }
}

export const deliverableRoutes = [...looking, ...bringing]
