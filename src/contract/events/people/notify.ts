import { z } from 'zod'

const told = {
  channel: z.string(),
  /** The event that is told, as `stream@version`. */
  id: z.string(),
  event: z.string(),
  /** What it is about. */
  subject: z.string(),
}

/** Deliveries are facts too: whoever was not told can be found. */
export const notifyEvents = {
  /** The telling begins and its cooldown with it; recorded only where there is one, before anything is sent. */
  'notification.begun': z.strictObject(told),
  'notification.delivered': z.strictObject({ ...told, tries: z.int().positive() }),
  /** Given up: a dead letter. `detail` never holds an address or a secret. */
  'notification.failed': z.strictObject({ ...told, tries: z.int().positive(), detail: z.string() }),
}
