import { z } from 'zod'
import type { Json } from '../canonical.ts'

/** How much an event matters to a person who is told of it, least first. The words are those of PagerDuty. */
export const Severity = z.enum(['info', 'warning', 'error', 'critical'])
export type Severity = z.infer<typeof Severity>

/** What a channel is handed: bounded, with nothing in it that a screen or a mail program could take for anything but text. */
export interface Message {
  /** Names the telling, not the try: the same over retries, so that receivers can tell a repetition. Letters, digits and `_` alone. */
  id: string
  severity: Severity
  /** One line. */
  title: string
  text: string
  /** What an HTTP channel posts, in the form of its kind; null for the others. PagerDuty: a list of its events, without the routing key. */
  body: Json
}
