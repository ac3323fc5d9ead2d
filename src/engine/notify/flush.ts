import type { Journal } from '../../ports/journal.ts'
import { type DeliveryParts, deliverNotification } from './deliver.ts'

export interface FlushOptions {
  /** Missions whose notifications are sent; those of all where nothing is said. */
  scopes?: string[]
  /** Who holds the leases. */
  owner: string
  /** What is not sent by then stays queued. */
  withinMs: number
  stop: AbortSignal
}

const atOnce = 8
/** Longer than any try, so that nobody has to renew it. */
const leaseMs = 180_000

/** Sends what is due and ends; for commands that tell something and are over, and for the end of a run. Returns how many were tried. */
export async function flushNotifications(parts: DeliveryParts, { scopes, owner, withinMs, stop }: FlushOptions): Promise<number> {
  let signal = stop
  let tried = 0
  while (!signal.aborted) {
    const leases = await parts.journal.claim({ owner, kinds: ['notify'], ...(scopes && { scopes }), limit: atOnce, leaseMs })
    if (leases.length === 0) break
    // Most of the time there is nothing to send, and nothing to time.
    if (signal === stop) signal = AbortSignal.any([stop, AbortSignal.timeout(withinMs)])
    const within = signal
    await Promise.all(leases.map((lease) => deliverNotification({ parts }, lease, within)))
    tried += leases.length
  }
  return tried
}

/** Notifications that are still to be sent, by anybody. */
export async function pendingNotifications(journal: Journal): Promise<number> {
  const { due, leased, later } = await journal.workCount(undefined, ['notify'])
  return due + leased + later
}
