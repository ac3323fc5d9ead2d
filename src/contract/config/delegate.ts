import { z } from 'zod'
import { PanelSettings } from './review.ts'

/** Everything under `delegate:` (SPEC §10). */
export const DelegateSettings = z
  .strictObject({
    agent: z.string().min(1).optional().describe('Agent that takes a delegated task which names none.'),
    judge: z.string().min(1).optional().describe('Name of a brain that judges delegated tasks, e.g. a cheaper one.'),
    panel: PanelSettings.unwrap()
      .extend({
        size: z.int().min(1).max(15).default(1).describe('Seats of the panel of a delegated task.'),
        quorum: z.int().min(1).max(15).default(1).describe('Graded principals that its decision needs.'),
      })
      .prefault({})
      .describe('The panel of delegated tasks.'),
    maxDelegations: z
      .int()
      .min(0)
      .max(100)
      .default(3)
      .describe('Delegations that one case may propose, and that one task may hand down in all of its calls together.')
      .meta({ aliases: ['maxDelegations'] }),
    maxDelegationDepth: z
      .int()
      .min(0)
      .max(20)
      .default(2)
      .describe('How deep delegated tasks may delegate.')
      .meta({ aliases: ['maxDelegationDepth'] }),
  })
  .prefault({})
