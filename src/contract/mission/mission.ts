import { z } from 'zod'
import { CheckEntry } from '../check.ts'
import { Deadline } from '../config/duration.ts'
import { Bar, Dimension } from '../score.ts'
import { TaskId } from '../task.ts'
import { DeliverableSpec } from './deliverable.ts'

/** A criterion as it is written: its text, or more. */
export const CriterionEntry = z.union([
  z.string().trim().min(1),
  z.strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'an id has letters, digits, `.`, `_`, `-`; at most 64')
      .optional()
      .describe('Name of the criterion; without one `AC` and its number.'),
    text: z.string().trim().min(1).describe('What must be true of the work.'),
    hard: z.boolean().default(true).describe('Unmet, it rejects the work whatever the scores say.'),
  }),
])
export type CriterionEntry = z.infer<typeof CriterionEntry>

/** Where a task's work happens, as it is written. */
export const WorkspaceEntry = z.union([
  z
    .string()
    .regex(/^(scratch|worktree|folder: *\S.*)$/s, 'a workspace is `scratch`, `worktree` or `{ folder: path }`')
    .describe('`scratch`, `worktree` or `folder: path`.'),
  z.strictObject({ folder: z.string().min(1).describe('A folder that tasks share; one task at a time.') }),
])
export type WorkspaceEntry = z.infer<typeof WorkspaceEntry>

/** One task of a mission file (SPEC §11). */
export const MissionTask = z.strictObject({
  title: z.string().trim().min(1).max(300).describe('What the task is called; others refer to it by this.'),
  assignTo: z.string().min(1).describe('Name of the agent that does it.'),
  description: z.string().default('').describe('What is to be done.'),
  acceptanceCriteria: z
    .array(CriterionEntry)
    .max(500)
    .default([])
    .describe('What must be true of the work: texts, or `{ id, text, hard }`.'),
  dependsOn: z.array(z.string().min(1)).max(10_000).default([]).describe('Titles or ids of tasks that come before.'),
  priority: z.number().positive().max(1_000_000).default(1).describe('Higher runs first, and weighs more in `qualityThreshold`.'),
  deadline: Deadline.optional().describe('A duration from first readiness (`2h`), or a point in time.'),
  dimensions: z.array(Dimension).min(1).max(20).optional().describe('What judges score; without it, `review.dimensions`.'),
  threshold: Bar.optional().describe('The bar of this task; without it, `review.threshold`.'),
  checks: z
    .array(CheckEntry)
    .max(200)
    .default([])
    .describe('Mechanical tests that run before any judge; after those of the configuration.'),
  deliverable: z
    .union([z.string().min(1), DeliverableSpec])
    .optional()
    .describe('What reaches a person when the task is accepted: a path, a URL, or `{ kind, … }`.'),
  workspace: WorkspaceEntry.default('scratch').describe('Where the work happens.'),
  expectsDiff: z.boolean().default(true).describe('False: the task may end without output or change.'),
})
export type MissionTask = z.infer<typeof MissionTask>

/** A checkpoint between two groups of tasks. */
export const QualityGate = z.strictObject({
  name: z.string().trim().min(1).max(200).describe('What the gate is called.'),
  afterTasks: z.array(z.string().min(1)).min(1).max(100_000).describe('Tasks that it looks at, by title or id.'),
  blocksTasks: z.array(z.string().min(1)).max(100_000).default([]).describe('Tasks that wait for it, by title or id.'),
  minScore: Bar.optional().describe('Bar for the average of the final scores.'),
  requireAllPassed: z
    .union([z.boolean(), z.literal('done')])
    .default(false)
    .describe('`true` needs clean or owner-accepted inputs; `done` only none failed or skipped.'),
  notifyChannels: z.array(z.string().min(1)).max(50).default([]).describe('Channels told of pass and fail.'),
})
export type QualityGate = z.infer<typeof QualityGate>

/** A mission file, YAML or JSON. */
export const MissionFile = z.strictObject({
  $schema: z.string().optional().describe('Address of the JSON Schema, for editors; not read.'),
  name: z.string().trim().min(1).max(200).describe('What the mission is called.'),
  tasks: z.array(MissionTask).min(1).describe('The tasks.'),
  qualityGates: z.array(QualityGate).max(10_000).default([]).describe('Checkpoints between groups of tasks.'),
  qualityThreshold: Bar.optional().describe('Bar for the priority-weighted average over all scored tasks.'),
  deadline: Deadline.optional().describe('A duration from the start of the mission, or a point in time.'),
})
export type MissionFile = z.infer<typeof MissionFile>

/** A mission as the runtime holds it: its tasks are `TaskSpec`s beside it, and everything refers to them by id. */
export const Mission = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  gates: z.array(QualityGate.extend({ afterTasks: z.array(TaskId).min(1), blocksTasks: z.array(TaskId) })),
  qualityThreshold: Bar.optional(),
  deadline: Deadline.optional(),
  /** Deadlines of tasks, by task id. */
  deadlines: z.record(TaskId, Deadline),
  /** Deliverables of tasks, by task id. */
  deliverables: z.record(TaskId, DeliverableSpec),
})
export type Mission = z.infer<typeof Mission>
