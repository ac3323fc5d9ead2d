import { z } from 'zod'

const entity = { entityId: z.string(), entityType: z.enum(['task', 'mission']), deadline: z.string() }

/** Each at most once for an entity and its deadline, across restarts and clock jumps. Times in milliseconds. */
export const slaEvents = {
  'sla.warning': z.strictObject({ ...entity, elapsed: z.number(), remaining: z.number(), percentUsed: z.number() }),
  'sla.violated': z.strictObject({ ...entity, overdueMs: z.number() }),
  'sla.met': z.strictObject({ ...entity, marginMs: z.number() }),
  /** The wall clock of a process moved against its steady clock by so much; deadlines go by the steady one. */
  'clock.jumped': z.strictObject({ byMs: z.number(), process: z.string() }),
}
