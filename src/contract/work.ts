import { z } from 'zod'

/** Work that hangs on events: done outside any transaction, it comes back as a command. */
export const WorkKind = z.enum([
  'run_attempt',
  'run_checks',
  'ask_judge',
  'restore_snapshot',
  'merge_work',
  'publish_merge',
  'settle_dependents',
  'settle_gate',
  'fan_out',
  'hand_over',
  'watch_worker',
  'retry_review',
  'notify',
])
export type WorkKind = z.infer<typeof WorkKind>

/** Work to be enqueued with an append. `key` is `(stream, version, kind)` and more where one event calls for several: a second enqueue of a key changes nothing. */
export interface NewWork {
  key: string
  kind: string
  /** What the work belongs to (a mission); a process claims only what it has the policy for. */
  scope: string
  /** Higher first; equal ones in the order enqueued. */
  priority: number
  payload: unknown
  /** Due only after so many milliseconds, by the store's clock. */
  delayMs?: number
}

/** Work held by one process. `fence` grows with every claim: a stale holder's append is refused. */
export interface Lease {
  key: string
  kind: string
  payload: unknown
  owner: string
  fence: number
  /** How often it was claimed, this time included. */
  claims: number
  /** How often its holder gave it back to be tried later; a claim that a crash or a stop cut off is none of them. */
  postponed: number
  /** When the lease ends unless it is renewed (epoch milliseconds, the store's clock). */
  until: number
}
