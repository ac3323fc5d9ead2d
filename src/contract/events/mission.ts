import { z } from 'zod'
import { Policy } from '../policy.ts'

export const MissionOutcome = z.enum(['clean', 'unreviewed', 'failed', 'inconclusive'])
export type MissionOutcome = z.infer<typeof MissionOutcome>

export const missionEvents = {
  'mission.started': z.strictObject({
    mission: z.string(),
    name: z.string(),
    policy: z.string(),
    /** Digest of the stored plan: every task in full, so that a start cut off by a crash can be finished. */
    plan: z.string(),
    tasks: z.int().positive(),
  }),
  'mission.finished': z.strictObject({ mission: z.string(), outcome: MissionOutcome, detail: z.string() }),
  'policy.recorded': z.strictObject({ digest: z.string(), policy: Policy }),
  /** A task has the shared folder to itself from its start to its end. */
  'folder.taken': z.strictObject({ folder: z.string(), task: z.string() }),
  'folder.released': z.strictObject({ folder: z.string(), task: z.string() }),
}
