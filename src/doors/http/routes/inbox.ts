import { z } from 'zod'
import type { Digest } from '../../../contract/canonical.ts'
import { Answered, AnswerRequest, InboxDetail, InboxItem, Overrule, Overruled, RequestItem } from '../../../contract/http/deliverable.ts'
import { Reason } from '../../../contract/http/mission.ts'
import { whyHandsNothing } from '../../../engine/deliverables/export.ts'
import { inboxCard, provenCards } from '../../../engine/deliverables/inbox.ts'
import { whyWithdrawn } from '../../../engine/gates/withdrawn.ts'
import type { InboxRow } from '../../../engine/views/inbox.ts'
import { refuse, refusedBy } from '../answer/problem.ts'
import type { Answer } from '../answer/reply.ts'
import type { Door } from '../door.ts'
import { listOf, pageOf, Paging } from '../page.ts'
import { route } from '../route.ts'

const params = z.object({ card: z.string().min(1).max(400).describe('Name of the card; `/` written `%2F`.') })
const noCard = (card: string) => refuse('not_found', `there is no card ${card}`)

const cards = [
  route({
    method: 'get',
    path: '/v1/inbox',
    scope: 'owner',
    tag: 'inbox',
    summary: 'The owner’s cards, newest first.',
    query: z.object({ ...Paging, state: z.enum(['pending', 'handled', 'dismissed', 'expired']).optional() }),
    reply: listOf(InboxItem),
    handle: async ({ door, query }) => {
      const isWanted = (row: InboxRow) => query.state === undefined || row.state === query.state
      const page = pageOf((await door.engine.inbox()).filter(isWanted), ({ at, card }) => `${at} ${card}`, query, true)
      const { rows, changed } = await provenCards(door.engine.parts, page.items)
      if (changed.length > 0) door.log(`WARN: ${changed.length} stored rows of the inbox were changed by hand: assay audit verify`)
      return { body: { ...page, items: rows.filter(isWanted) } }
    },
  }),
  route({
    method: 'get',
    path: '/v1/inbox/{card}',
    scope: 'owner',
    tag: 'inbox',
    summary: 'One card, and the files that it hands over.',
    params,
    reply: InboxDetail,
    handle: async ({ door, params: { card } }) => {
      const row = await inboxCard(door.engine.parts, card)
      if (!row) return noCard(card)
      const manifest = row.snapshot === undefined ? undefined : await door.engine.parts.snapshots.manifest(row.snapshot as Digest)
      const files = (manifest?.files ?? []).map(({ path, size, digest }) => ({ path, size, digest }))
      return { body: { card: row, files } }
    },
  }),
  route({
    method: 'get',
    path: '/v1/inbox/{card}/files/{path}',
    scope: 'owner',
    tag: 'inbox',
    summary: 'The reviewed bytes of one file, as they were judged.',
    params: params.extend({ path: z.string().min(1).max(1000).describe('Path of the file; `/` written `%2F`.') }),
    reply: 'bytes',
    handle: async ({ door, params: { card, path } }) => {
      const row = await inboxCard(door.engine.parts, card)
      if (!row) return noCard(card)
      const over = await whyHandsNothing(door.engine, row)
      if (over !== undefined) return refuse('wrong_status', `the card ${card} hands nothing over any more: ${over}`)
      const bytes = row.snapshot === undefined ? undefined : await door.engine.parts.snapshots.read(row.snapshot as Digest, path)
      if (!bytes) return refuse('not_found', `${card} hands over no file ${path}`)
      const name = encodeURIComponent(path.split('/').at(-1) ?? 'file')
      const headers = { 'content-type': 'application/octet-stream', 'content-disposition': `attachment; filename*=UTF-8''${name}` }
      return { bytes, headers }
    },
  }),
  ...(['handle', 'dismiss'] as const).map((word) =>
    route({
      method: 'post',
      path: `/v1/inbox/{card}/${word}`,
      scope: 'owner',
      tag: 'inbox',
      summary: word === 'handle' ? 'The card has been dealt with.' : 'The card is put away.',
      params,
      body: Reason,
      reply: InboxItem,
      handle: ({ door, who, params: { card }, body }) =>
        close(door, card, word === 'handle' ? 'handled' : 'dismissed', who.name, body.reason),
    }),
  ),
]

async function close(door: Door, card: string, state: 'handled' | 'dismissed', by: string, reason: string): Promise<Answer<InboxRow>> {
  const closed = await door.engine.closeCard(card, { state, by, reason })
  return closed.ok ? { body: closed.value } : refusedBy(closed.error)
}

const deciding = [
  route({
    method: 'get',
    path: '/v1/requests',
    scope: 'owner',
    tag: 'decisions',
    summary: 'What waits for a person, and the answers that each question takes.',
    query: z.object(Paging),
    reply: listOf(RequestItem),
    handle: async ({ door, query }) => {
      const rows = (await door.engine.requests()).sort((one, other) => (one.request < other.request ? -1 : 1))
      return { body: pageOf(rows, ({ request }) => request, query) }
    },
  }),
  route({
    method: 'post',
    path: '/v1/requests/{request}/answer',
    scope: 'owner',
    tag: 'decisions',
    summary: 'Answer a question.',
    params: z.object({ request: z.string().min(1).max(400).describe('Name of the request; `/` written `%2F`, `#` written `%23`.') }),
    body: AnswerRequest,
    reply: Answered,
    handle: async ({ door, who, params, body: { answer, reason } }) => {
      const request = (await door.engine.requests()).find((one) => one.request === params.request)
      if (!request) {
        const withdrawn = await whyWithdrawn(door.engine.parts.journal, params.request)
        return refuse('not_found', withdrawn ?? `there is no open request ${params.request}`)
      }
      if (!request.answers.includes(answer))
        return refuse('bad_answer', `${answer} is no answer to ${request.request}; possible: ${request.answers.join(', ')}`)
      const answered = await door.engine.answer({ request, answer, by: who.name, reason })
      return answered.ok ? { body: { request: request.request, answer, by: who.name, events: answered.value } } : refusedBy(answered.error)
    },
  }),
  route({
    method: 'post',
    path: '/v1/tasks/{task}/overrule',
    scope: 'owner',
    tag: 'decisions',
    summary: 'Turn a decision, either way.',
    params: z.object({ task: z.string().min(1).max(200) }),
    body: Overrule,
    reply: Overruled,
    handle: async ({ door, who, params: { task }, body: { outcome, reason } }) => {
      if (!(await door.engine.task(task))) return refuse('not_found', `there is no task ${task}`)
      const handled = await door.engine.handle(task, { type: 'overrule_task', outcome, by: who.name, reason }, who.name)
      return handled.ok ? { body: { task, outcome, by: who.name } } : refusedBy(handled.error)
    },
  }),
]

export const inboxRoutes = [...cards, ...deciding]
