import { z } from 'zod'
import type { Result } from '../../../contract/errors.ts'
import type { OutsideReview } from '../../../engine/outside/outside.ts'
import type { Door } from '../door.ts'

/** Longest that a request waits for what it asked about; below what clients and proxies usually give up after. */
const longestWait = 45

export const Waiting = z.object({
  wait: z.coerce.number().int().min(0).max(longestWait).default(0).describe(`Seconds to wait for an answer; at most ${longestWait}.`),
})

/** Looks again whenever something happened, until checks and judges are through or the time is over. */
export async function untilDecided(
  door: Door,
  look: () => Promise<Result<OutsideReview>>,
  seconds: number,
): Promise<Result<OutsideReview>> {
  const { engine, stop } = door
  const end = performance.now() + seconds * 1000
  for (;;) {
    const position = await engine.parts.journal.position()
    const review = await look()
    const left = end - performance.now()
    if (!review.ok || review.value.phase !== 'reviewing' || left <= 0 || stop.aborted) return review
    await engine.waitForNews(position, Math.min(left, 1000))
  }
}
