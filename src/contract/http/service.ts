import { z } from 'zod'
import { EventMeta } from '../events/envelope.ts'

/** An event as the journal holds it. */
export const EventItem = z.strictObject({
  position: z.int(),
  stream: z.string(),
  version: z.int(),
  type: z.string(),
  v: z.int(),
  data: z.unknown(),
  meta: EventMeta,
  prev: z.string(),
  hash: z.string(),
})

export const AuditProof = z.strictObject({
  intact: z.boolean(),
  events: z.int(),
  streams: z.int(),
  objects: z.int(),
  breaks: z.array(z.strictObject({ stream: z.string(), version: z.int(), position: z.int().nullable(), problem: z.string() })),
})

export const SlaItem = z.strictObject({
  entityId: z.string(),
  entityType: z.enum(['task', 'mission']),
  mission: z.string(),
  written: z.string(),
  deadline: z.string().nullable().describe('When the time is up; null while it has not begun to run.'),
  doneAt: z.string().nullable(),
  failed: z.boolean(),
  warned: z.boolean(),
  violated: z.boolean(),
  met: z.boolean(),
})

export const Figures = z.looseObject({ kind: z.enum(['mission', 'worker', 'judge', 'task']) })

export const Health = z.strictObject({
  status: z.enum(['ok', 'stopping']),
  version: z.string(),
  scope: z.enum(['owner', 'worker']),
  agent: z.string().optional().describe('Agent that the token is for.'),
  position: z.int().describe('Position of the latest event.'),
  running: z.array(z.string()).describe('Missions that this server works on.'),
  otherPolicy: z.array(z.string()).describe('Open missions of another policy: they do not go on here.'),
  sandboxed: z.boolean(),
})

export const Configuration = z.strictObject({ config: z.unknown(), policy: z.string().describe('Digest of the policy in force.') })
