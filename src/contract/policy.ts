import { z } from 'zod'
import { Agents, Brains } from './agent.ts'
import { ReviewSettings } from './config/review.ts'

/** Everything in the configuration that decides. Its digest is bound into every review, so no bar can be lowered unseen. */
export const Policy = z.strictObject({
  review: ReviewSettings,
  agents: Agents,
  brains: Brains,
  /** Deciding sections that later capabilities add (gate, delegation…): digested as they stand. */
  other: z.record(z.string(), z.unknown()),
})
export type Policy = z.infer<typeof Policy>
