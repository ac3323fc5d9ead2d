import { z } from 'zod'
import { Case } from '../case.ts'
import { CheckReport } from '../check.ts'
import { OperatorAnswer } from '../events/task.ts'
import { LedgerEntry, Veto } from '../review.ts'
import { Bar, Score } from '../score.ts'
import { Criterion, DoneFlag, HeldReason, TaskStatus } from '../task.ts'

/** A task in a list. */
export const TaskItem = z.strictObject({
  id: z.string(),
  mission: z.string(),
  title: z.string(),
  assignee: z.string(),
  status: TaskStatus,
  priority: z.number(),
  bar: Bar.describe('What its score was decided against; before the first score, what the next one will be.'),
  nextBar: Bar.optional().describe('Bar of a policy that took over since.'),
  flag: DoneFlag.optional(),
  held: HeldReason.optional(),
  detail: z.string().optional(),
  attempt: z.int(),
  score: Score.optional(),
  concern: z.string().optional(),
  content: z.string().nullable().optional(),
  dependsOn: z.array(z.string()),
  outside: z.literal(true).optional(),
  byCall: z.literal(true).optional().describe('It was handed down by a call.'),
  gated: z.literal(true).optional(),
  given: z.literal(true).optional(),
  request: z.string().optional(),
  retries: z.int().optional(),
  seats: z.array(z.strictObject({ judge: z.string(), state: z.string() })).optional(),
  ended: z.string().optional().describe('When it was done, failed or skipped.'),
  updated: z.string(),
})

const OpenRequest = z.strictObject({ request: z.string(), answers: z.array(OperatorAnswer), about: HeldReason.optional() })

export const TaskDetailItem = z.strictObject({
  id: z.string(),
  title: z.string(),
  status: z.string(),
  bar: z.string().describe('That of the decision where the task is done, else the one in force.'),
  decidedBar: z.string().describe('That of the last decision.'),
  charged: z.int(),
  allowed: z.int(),
  criteria: z.array(Criterion),
  case: Case.optional(),
  ledger: z.array(LedgerEntry),
  checks: z.array(CheckReport.pick({ id: true, outcome: true, summary: true, output: true })),
  judges: z.array(z.strictObject({ judge: z.string(), said: z.string() })),
  unsandboxed: z.literal(true).optional().describe('The last attempt ran without a sandbox.'),
  degraded: z
    .strictObject({ quorum: z.int().positive() })
    .optional()
    .describe('The last review had fewer independent judges than the configured quorum; this one was in force.'),
  vetoes: z.array(Veto),
  requests: z.array(OpenRequest),
  workspace: z.string().optional(),
})

/** In whose name; the owner names an agent, a worker's token has its own. */
export const InName = z.strictObject({
  worker: z.string().min(1).max(200).optional().describe('Agent; with a worker’s token it is its own.'),
})

export const Taken = z.strictObject({
  task: z.string(),
  attempt: z.int(),
  prompt: z.string().describe('Everything that the worker is told, feedback on earlier attempts included.'),
  workspace: z.string().describe('The folder to work in.'),
})

export const SubmitCase = InName.extend({
  attempt: z.int().positive().describe('The attempt that `take` answered with.'),
  case: z.union([Case, z.string().min(1)]).describe('The case, or its text.'),
  output: z.string().optional().describe('What was written or printed, where that is the work.'),
})

export const CaseTaken = z.strictObject({
  problems: z.array(z.string()).describe('What is wrong with the case; empty: checks and judges are next.'),
})

export const ReviewStanding = z.strictObject({
  task: z.string(),
  attempt: z.int(),
  status: TaskStatus,
  phase: z.enum(['reviewing', 'rejected', 'accepted', 'held', 'failed', 'working']),
  flag: DoneFlag.optional(),
  score: Score.optional(),
  bar: z.number(),
  feedback: z.string(),
})
