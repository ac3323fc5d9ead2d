import type { Channel } from '../contract/config/notify.ts'
import type { Message } from '../contract/notify/message.ts'

export type Sent =
  | { ok: true }
  /** `detail` is for people and the journal: it never holds an address, a secret or anything that the receiver said. */
  | {
      ok: false
      /** Whether another try could end differently. */
      retry: boolean
      detail: string
      /** The receiver asked to be left alone for this long. */
      afterMs?: number
    }

/** One channel. Failure is data; sending ends within a bound of its own, or with the signal. */
export interface Notifier {
  send(message: Message, signal: AbortSignal): Promise<Sent>
}

/** Opens a channel as it is configured. Secrets are looked up when it sends: one that is missing is a failed delivery, not a failed start. */
export type OpenNotifier = (channel: Channel) => Promise<Notifier>
