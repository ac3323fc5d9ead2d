import type { Engine } from './engine.ts'

/** Longest between two looks: what ends without an event of its own is seen then. */
const lookMs = 500

/** Looks again whenever something happened, until it is over, the seconds have passed, or nobody waits any more. */
export async function untilOver<T>(
  engine: Engine,
  { seconds, stop }: { seconds: number; stop: AbortSignal },
  look: () => Promise<T>,
  isOver: (found: T) => boolean,
): Promise<T> {
  const end = performance.now() + seconds * 1000
  for (;;) {
    const position = await engine.parts.journal.position()
    const found = await look()
    const left = end - performance.now()
    if (isOver(found) || left <= 0 || stop.aborted) return found
    await engine.waitForNews(position, Math.min(left, lookMs))
  }
}
