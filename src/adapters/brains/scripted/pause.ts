import { setTimeout as sleep } from 'node:timers/promises'

/** Waits that long, or for ever without a length; false when the signal ended it. */
export async function pause(ms: number | undefined, signal: AbortSignal): Promise<boolean> {
  const limit = 2 ** 31 - 1
  while (!signal.aborted) {
    const ended = await sleep(Math.min(ms ?? limit, limit), true, { signal }).catch(() => false)
    if (ms !== undefined) return ended
  }
  return false
}
