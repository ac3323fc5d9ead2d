import { z } from 'zod'
import type { Result } from '../../../contract/errors.ts'
import { untilOver } from '../../../engine/wait.ts'
import type { OutsideReview } from '../../../engine/outside/outside.ts'
import type { Door } from '../door.ts'

/** Longest that a request waits for what it asked about; below what clients and proxies usually give up after. */
const longestWait = 45

export const Waiting = z.object({
  wait: z.coerce.number().int().min(0).max(longestWait).default(0).describe(`Seconds to wait for an answer; at most ${longestWait}.`),
})

/** Until checks and judges are through with what was submitted. */
export function untilDecided(door: Door, look: () => Promise<Result<OutsideReview>>, seconds: number): Promise<Result<OutsideReview>> {
  const { engine, stop } = door
  return untilOver(engine, { seconds, stop }, look, (review) => !review.ok || review.value.phase !== 'reviewing')
}
