import type { Channel } from '../../contract/config/notify.ts'
import { trialMessage } from '../../core/notify/trial.ts'
import type { OpenNotifier, Sent } from '../../ports/notifier.ts'
import { trySending } from './deliver.ts'

export interface Trial {
  name: string
  channel: Channel
  /** Names this trial. */
  id: string
  at: string
}

/** Sends a test message once and says how that ended. */
export function tryChannel(open: OpenNotifier, { name, channel, id, at }: Trial, signal: AbortSignal): Promise<Sent> {
  const message = trialMessage(name, channel.kind, id, at)
  return trySending(
    () => open(channel),
    (notifier, within) => notifier.send(message, within),
    signal,
  )
}
