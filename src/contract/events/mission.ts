import { z } from 'zod'
import { Deadline } from '../config/duration.ts'
import { Policy } from '../policy.ts'
import { Bar } from '../score.ts'

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
    qualityThreshold: Bar.optional(),
    deadline: Deadline.optional(),
    /** Names the request that asked for it: the same request starts one run. */
    key: z.string().optional(),
  }),
  /** Tasks were added to a run: by the owner, or because accepted work proposed them. `key` names the cause; the same cause adds once. */
  'mission.extended': z.strictObject({
    mission: z.string(),
    key: z.string(),
    plan: z.string(),
    tasks: z.int().positive(),
    by: z.string(),
  }),
  'mission.finished': z.strictObject({ mission: z.string(), outcome: MissionOutcome, detail: z.string() }),
  /** One of its tasks is open again. */
  'mission.reopened': z.strictObject({ mission: z.string(), task: z.string() }),
  /** Whose word counts in this journal: the digest of the owner's token. */
  'owner.enrolled': z.strictObject({ token: z.string() }),
  'policy.recorded': z.strictObject({ digest: z.string(), policy: Policy }),
  /** A task has the shared folder to itself from its start to its end. */
  'folder.taken': z.strictObject({ folder: z.string(), task: z.string() }),
  'folder.released': z.strictObject({ folder: z.string(), task: z.string() }),
}
