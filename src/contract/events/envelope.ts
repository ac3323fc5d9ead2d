import { z } from 'zod'

/** An event that somebody wants to append. */
export interface NewEvent {
  type: string
  /** Version of the data's shape; older shapes are upgraded on read, never rewritten. */
  v: number
  data: unknown
}

/** Who and when, given by the shell: the core has no clock. */
export const EventMeta = z.strictObject({
  at: z.string().describe('Wall-clock time, ISO 8601 UTC.'),
  actor: z.string().describe('Who caused it: an agent, `runtime`, or `owner`.'),
  command: z.string().optional().describe('Id of the command that it came from.'),
})
export type EventMeta = z.infer<typeof EventMeta>

/** An event as the journal holds it. `hash` covers the predecessor's hash and everything else but `position`. */
export interface StoredEvent {
  position: number
  stream: string
  version: number
  type: string
  v: number
  data: unknown
  meta: EventMeta
  prev: string
  hash: string
}
