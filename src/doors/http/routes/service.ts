import { z } from 'zod'
import { AuditProof, Configuration, EventItem, Figures, Health, SlaItem } from '../../../contract/http/service.ts'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import { isInstant, parseDuration } from '../../../contract/config/duration.ts'
import { metricsOf, taskMetricsOf } from '../../../engine/views/metrics.ts'
import type { SlaRow } from '../../../engine/views/sla.ts'
import { listOf, Paging, scanPage } from '../page.ts'
import { route } from '../route.ts'
import { withoutSecrets } from './secrets.ts'

const auditing = [
  route({
    method: 'get',
    path: '/v1/audit',
    scope: 'owner',
    tag: 'audit',
    summary: 'The journal, oldest first.',
    query: z.object({
      ...Paging,
      type: z.string().max(2000).optional().describe('Kinds of events, separated by commas; `task.*` is a family.'),
      stream: z.string().max(500).optional().describe('One stream, such as `task/<id>`, or one that begins so where it ends in `*`.'),
    }),
    reply: listOf(EventItem),
    handle: async ({ door, query }) => {
      const types = query.type?.split(',').map((one) => matcher(one.trim()))
      const stream = query.stream === undefined ? undefined : matcher(query.stream)
      const wanted = (event: StoredEvent) => (!types || types.some((fits) => fits(event.type))) && (!stream || stream(event.stream))
      const read = async (after: string | undefined, limit: number) =>
        (await door.engine.events(Number(after ?? 0), limit)).map((row) => ({ key: String(row.position), row }))
      return { body: await scanPage(read, wanted, query) }
    },
  }),
  route({
    method: 'post',
    path: '/v1/audit/verify',
    scope: 'owner',
    tag: 'audit',
    summary: 'Prove every chain, view and object from stored bytes.',
    body: z.strictObject({}),
    reply: AuditProof,
    handle: async ({ door }) => {
      const { events, streams, objects, breaks } = await door.prove()
      return { body: { intact: breaks.length === 0, events, streams, objects, breaks } }
    },
  }),
]

const matcher = (pattern: string) => (text: string) => (pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern)

const filters = { mission: z.string().max(300).optional(), agent: z.string().max(200).optional() }

const figures = [
  route({
    method: 'get',
    path: '/v1/metrics',
    scope: 'owner',
    tag: 'figures',
    summary: 'Figures of missions, of agents as workers and as judges, and of the first tasks.',
    query: z.object({
      ...filters,
      tasks: z.coerce.number().int().min(0).max(500).default(0).describe('So many tasks too, in the order of their ids.'),
    }),
    reply: z.strictObject({ items: z.array(Figures) }),
    handle: async ({ door, query: { mission, agent, tasks } }) => {
      const { journal } = door.engine.parts
      const filter = { ...(mission !== undefined && { mission }), ...(agent !== undefined && { agent }) }
      const items: z.input<typeof Figures>[] = (await metricsOf(journal, filter)).map((group) => ({ ...group }))
      let left = tasks
      if (left > 0)
        for await (const task of taskMetricsOf(journal, filter)) {
          items.push({ ...task })
          left -= 1
          if (left === 0) break
        }
      return { body: { items } }
    },
  }),
  route({
    method: 'get',
    path: '/v1/sla',
    scope: 'owner',
    tag: 'figures',
    summary: 'Every deadline, and what became of it.',
    query: z.object({ ...Paging, mission: filters.mission }),
    reply: listOf(SlaItem),
    handle: async ({ door, query }) => {
      const { journal } = door.engine.parts
      const read = async (afterKey: string | undefined, limit: number) =>
        (await journal.viewRows('sla', { limit, ...(afterKey !== undefined && { afterKey }) })) as { key: string; row: SlaRow }[]
      const page = await scanPage(read, (row) => query.mission === undefined || row.mission === query.mission, query)
      return { body: { items: page.items.map(slaItem), next: page.next } }
    },
  }),
]

function slaItem({ from, doneAt, ...row }: SlaRow): z.input<typeof SlaItem> {
  const duration = parseDuration(row.written)
  const due = isInstant(row.written) ? Date.parse(row.written) : from === undefined || duration === undefined ? undefined : from + duration
  const time = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString())
  return { ...row, deadline: time(due), doneAt: time(doneAt) }
}

const service = [
  route({
    method: 'get',
    path: '/v1/config',
    scope: 'owner',
    tag: 'service',
    summary: 'The configuration in force, without secrets.',
    reply: Configuration,
    handle: async ({ door }) => ({ body: { config: withoutSecrets(door.project.config), policy: door.engine.parts.rules.digest } }),
  }),
  route({
    method: 'get',
    path: '/v1/health',
    scope: 'worker',
    tag: 'service',
    summary: 'Whether the server works, and for whom.',
    reply: Health,
    handle: async ({ door, who }) => ({
      body: {
        status: door.stop.aborted ? ('stopping' as const) : ('ok' as const),
        version: door.version,
        scope: who.scope,
        ...(who.scope === 'worker' && { agent: who.name }),
        position: await door.engine.parts.journal.position(),
        ...(who.scope === 'owner' ? door.running() : { running: [], otherPolicy: [] }),
        sandboxed: await door.engine.parts.sandboxed(),
      },
    }),
  }),
]

export const serviceRoutes = [...auditing, ...figures, ...service]
