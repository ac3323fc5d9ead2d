import { z } from 'zod'
import { Deadline } from '../config/duration.ts'
import { Policy } from '../policy.ts'
import { Bar } from '../score.ts'

/** `owner-accepted`: nothing is wrong, but some of it is accepted on the owner's word instead of the judges'. */
export const MissionOutcome = z.enum(['clean', 'owner-accepted', 'unreviewed', 'failed', 'inconclusive'])
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
  /** A request with a name led to a run: it started it, or joined it. `asked` is the digest of the request; no other is answered under the name. */
  'key.used': z.strictObject({ key: z.string(), asked: z.string(), mission: z.string() }),
  /** Tasks were added to a run: by the owner, or because accepted work proposed them. `key` names the cause; the same cause adds once. */
  'mission.extended': z.strictObject({
    mission: z.string(),
    key: z.string(),
    plan: z.string(),
    tasks: z.int().positive(),
    by: z.string(),
  }),
  /** `ended` is when the last of its tasks did, or the owner's word on a gate came: this may be noticed, and written down, much later. */
  'mission.finished': z.strictObject({
    mission: z.string(),
    outcome: MissionOutcome,
    detail: z.string(),
    ended: z.iso.datetime().optional(),
  }),
  /** One of its tasks is open again. */
  'mission.reopened': z.strictObject({ mission: z.string(), task: z.string() }),
  /** Whose word counts in this journal: the digest of the owner's token. */
  'owner.enrolled': z.strictObject({ token: z.string() }),
  'policy.recorded': z.strictObject({ digest: z.string(), policy: Policy }),
  /** The owner stands behind a policy: what is decided under it may reach the owner. */
  'policy.accepted': z.strictObject({
    digest: z.string(),
    /** As it stood, for naming what differs; nothing is decided by it, so that no later version fails to read whom it belongs to. */
    policy: z.record(z.string(), z.unknown()),
    /** The first that the journal saw; something was started under it with the owner's authority; or the owner said so. */
    how: z.enum(['first', 'started', 'word']),
    by: z.string(),
    reason: z.string(),
  }),
  /** A task has the shared folder to itself from its start to its end. */
  'folder.taken': z.strictObject({ folder: z.string(), task: z.string() }),
  'folder.released': z.strictObject({ folder: z.string(), task: z.string() }),
  /** What the task left there could not be put back (or brought back): until it can, nobody else gets the folder. */
  'folder.stuck': z.strictObject({ folder: z.string(), task: z.string(), why: z.string() }),
  /**
   * Files changed between submission and acceptance. Those of the work were made what was accepted again, and what lay there is kept in `kept`; `others`
   * were left as they are.
   */
  'folder.changed': z.strictObject({
    folder: z.string(),
    task: z.string(),
    corrected: z.array(z.string()),
    others: z.array(z.string()),
    kept: z.string().optional(),
  }),
}
