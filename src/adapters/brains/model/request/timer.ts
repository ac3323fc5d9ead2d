import { setTimeout as sleep } from 'node:timers/promises'

/** A timer cannot be set for longer; a longer one would fire at once. */
const longest = 2 ** 31 - 1

/** Calls back after that time, unless the function that it returns was called before. */
export function setTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(ms, longest))
  return () => clearTimeout(timer)
}

/** Waits that long; less where the signal ends it. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.min(ms, longest), undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
