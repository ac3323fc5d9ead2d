import { z } from 'zod'
import { Duration } from './duration.ts'

/** Everything under `hook:`: what happens when a coding agent says that it is done (SPEC §19). */
export const HookSettings = z
  .strictObject({
    criteria: z.array(z.string().trim().min(1)).max(100).default([]).describe('What must be true of whatever an agent says is done.'),
    maxAttempts: z
      .int()
      .min(1)
      .max(20)
      .default(3)
      .describe('How often an agent is sent back before its work is let go, flagged and put to the owner.'),
    timeout: Duration.default('8m').describe(
      "Time for a hook from its start to its answer, whatever it is busy with. Keep it below the agent's own limit for hooks, or the agent ends unreviewed.",
    ),
  })
  .prefault({})
