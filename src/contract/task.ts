import { z } from 'zod'
import { CheckSpec } from './check.ts'
import { Deadline } from './config/duration.ts'
import { PanelSettings } from './config/review.ts'
import { DeliverableSpec } from './mission/deliverable.ts'
import { Bar, Dimension } from './score.ts'

export const TaskStatus = z.enum(['waiting', 'todo', 'running', 'checking', 'in_review', 'held', 'done', 'failed', 'skipped'])
export type TaskStatus = z.infer<typeof TaskStatus>

/** How a task came to be done. Never merged into one "done": dependents and people see which. */
export const DoneFlag = z.enum(['clean', 'below-threshold', 'unreviewed', 'owner-accepted'])
export type DoneFlag = z.infer<typeof DoneFlag>

export const HeldReason = z.enum([
  'judge_unavailable',
  'unreadable',
  'no_reviewer',
  'budget',
  'exhausted_unscored',
  'escalated',
  'stale_input',
  'operator',
])
export type HeldReason = z.infer<typeof HeldReason>

/** One acceptance criterion. A hard one that is not met rejects the work whatever the scores say. */
export const Criterion = z.strictObject({
  id: z.string().min(1).max(64),
  text: z.string().min(1),
  hard: z.boolean(),
})
export type Criterion = z.infer<typeof Criterion>

export const Workspace = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('scratch') }),
  z.strictObject({ kind: z.literal('worktree') }),
  z.strictObject({ kind: z.literal('folder'), path: z.string().min(1) }),
])
export type Workspace = z.infer<typeof Workspace>

export const TaskId = z.string().min(1).max(200)

/** How one task is reviewed where that differs from `review` of the policy: what was delegated, and deliverables. */
export const ReviewTerms = z.strictObject({
  /** False: nobody judges it, and it ends `unreviewed`. */
  evaluate: z.boolean().optional(),
  maxAttempts: z.int().positive().optional(),
  onExhausted: z.enum(['force-accept', 'escalate', 'fail']).optional(),
  whenNoReviewer: z.enum(['accept', 'hold']).optional(),
  panel: PanelSettings.unwrap().optional(),
  /** Brain that the manager who handed the task down judges with. */
  judge: z.string().optional(),
})
export type ReviewTerms = z.infer<typeof ReviewTerms>

/** A task as the runtime holds it: every default resolved, every criterion with its id. */
export const TaskSpec = z.strictObject({
  id: TaskId,
  mission: z.string().optional(),
  title: z.string().min(1),
  description: z.string(),
  assignee: z.string().min(1),
  criteria: z.array(Criterion),
  checks: z.array(CheckSpec),
  dimensions: z.array(Dimension).min(1),
  bar: Bar,
  dependsOn: z.array(TaskId),
  /** Quality gates of the mission that it waits for, by name. */
  gates: z.array(z.string()).optional(),
  priority: z.number().positive(),
  deadline: Deadline.optional(),
  workspace: Workspace,
  expectsDiff: z.boolean(),
  /** The manager who handed the task down, if one did: first in the reviewer order. */
  delegatedBy: z.string().optional(),
  depth: z.int().nonnegative(),
  /** What the mission file says of the task itself: a changed policy leaves it as it is. */
  own: z.array(z.enum(['bar', 'dimensions'])).optional(),
  terms: ReviewTerms.optional(),
  /** Whoever did it is not started by Assay and need not be configured: the work is brought to be reviewed. Nobody takes such a task. */
  outside: z.literal(true).optional(),
  /** What reaches a person when the task is accepted. */
  deliverable: DeliverableSpec.optional(),
  /** The task whose case proposed this one, and the flag that it was accepted with unless clean. */
  origin: z.strictObject({ task: TaskId, flag: DoneFlag.optional() }).optional(),
})
export type TaskSpec = z.infer<typeof TaskSpec>

/** What a task got from one of its dependencies when it became ready: the content is bound, not the name. */
export const TaskInput = z.strictObject({
  task: TaskId,
  digest: z.string(),
  flag: DoneFlag,
  /** What dependents read before the input's text, e.g. `[ACCEPTED BELOW QUALITY BAR, score 41]`; empty for clean work. */
  prefix: z.string(),
})
export type TaskInput = z.infer<typeof TaskInput>
