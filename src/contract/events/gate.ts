import { z } from 'zod'
import { QualityGate } from '../mission/mission.ts'
import { Bar, Score } from '../score.ts'
import { TaskId } from '../task.ts'

/** A gate as the runtime holds it: tasks by id. */
export const GateSpec = QualityGate.extend({ afterTasks: z.array(TaskId).min(1), blocksTasks: z.array(TaskId) })
export type GateSpec = z.infer<typeof GateSpec>

const names = { missionId: z.string(), gateName: z.string() }
const owner = { by: z.string(), reason: z.string() }

export const gateEvents = {
  'gate.created': z.strictObject({ missionId: z.string(), gate: GateSpec }),
  'quality.gate.passed': z.strictObject({ ...names, avgScore: Score.optional() }),
  'quality.gate.failed': z.strictObject({
    ...names,
    avgScore: Score.optional(),
    reason: z.string(),
    /** Inputs that are unscored, below the gate's bar, or neither clean nor owner-accepted. */
    weak: z.array(TaskId),
  }),
  /** Evaluation is off: what the gate blocks goes on, unreviewed. */
  'quality.gate.skipped': z.strictObject(names),
  'gate.reopened': z.strictObject({ ...names, task: TaskId }),
  'gate.retried': z.strictObject({ ...names, tasks: z.array(TaskId), ...owner }),
  'gate.waived': z.strictObject({ ...names, ...owner }),
  'gate.stopped': z.strictObject({ ...names, ...owner }),
  'quality.threshold.passed': z.strictObject({ missionId: z.string(), avgScore: Score, threshold: Bar, unscored: z.int().nonnegative() }),
  'quality.threshold.failed': z.strictObject({
    missionId: z.string(),
    /** Absent where no task was scored. */
    avgScore: Score.optional(),
    threshold: Bar,
    unscored: z.int().nonnegative(),
    reason: z.string(),
  }),
  'threshold.waived': z.strictObject({ missionId: z.string(), ...owner }),
}
