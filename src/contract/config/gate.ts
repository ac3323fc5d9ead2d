import { z } from 'zod'
import { Duration } from './duration.ts'

/** Everything under `gate:`: what stands between a deliverable and a person (SPEC §14). */
export const GateSettings = z
  .strictObject({
    maxRetries: z
      .int()
      .min(0)
      .max(50)
      .default(2)
      .describe("Revisions of a deliverable outside tasks; a task's deliverable obeys `review.maxAttempts`."),
    urlVerdictTtl: Duration.default('24h').describe('How long the verdict on a URL counts.'),
    bypassTtl: Duration.default('7d').describe('How long a waived review counts.'),
    agentBypass: z
      .boolean()
      .default(false)
      .describe("Whether an agent's `evaluatorBypass: true` is obeyed. Off, it becomes an operator request."),
    criteria: z
      .array(z.string().min(1))
      .max(100)
      .default([])
      .describe("Criteria for every deliverable; a producer's own are added to them."),
  })
  .prefault({})

/** Everything under `inbox:`. */
export const InboxSettings = z
  .strictObject({ expireAfter: Duration.default('30d').describe('Age at which a pending card expires.') })
  .prefault({})
