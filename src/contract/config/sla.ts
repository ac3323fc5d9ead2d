import { z } from 'zod'

/** Everything under `sla:` (SPEC §12). */
export const SlaSettings = z
  .strictObject({
    checkIntervalMs: z.int().min(100).max(86_400_000).default(30_000).describe('Milliseconds between two looks at the deadlines.'),
    warningThreshold: z.number().min(0).max(1).default(0.8).describe('Share of the time elapsed at which a warning is given.'),
    warningChannels: z.array(z.string().min(1)).max(50).default([]).describe('Channels that are warned.'),
    violationChannels: z.array(z.string().min(1)).max(50).default([]).describe('Channels that are told of missed deadlines.'),
    violationAction: z
      .enum(['notify', 'fail'])
      .default('notify')
      .describe('What a missed deadline does: `notify` reports it; `fail` ends the task, past retries and escalation.'),
  })
  .prefault({})
