import { z } from 'zod'
import { Category } from '../verdict.ts'
import { CheckSpec } from '../check.ts'
import { Feedback, Veto } from '../review.ts'
import { Bar, Dimension, Score } from '../score.ts'
import { Criterion, DoneFlag, HeldReason, TaskId, TaskInput, TaskSpec, TaskStatus } from '../task.ts'

const actorReason = { by: z.string(), reason: z.string() }

/** Answers that an operator request offers. */
export const OperatorAnswer = z.enum(['retry', 'accept', 'fail', 'waive', 'stop', 'acknowledge'])
export type OperatorAnswer = z.infer<typeof OperatorAnswer>

export const RequestKind = z.enum(['force_accepted', 'held', 'stagnated', 'gate_failed', 'bypass_refused'])

export const taskEvents = {
  'task.created': z.strictObject({ spec: TaskSpec, policy: z.string() }),
  'task.readied': z.strictObject({ inputs: z.array(TaskInput) }),
  /** A quality gate that it waits for was opened again before it began. */
  'task.blocked': z.strictObject({ gate: z.string() }),
  /** It was not told what became of its inputs since it was given them: it is readied anew, with what they are then. */
  'task.unreadied': z.strictObject({}),
  'task.skipped': z.strictObject({ because: z.string() }),
  'task.returned': z.strictObject({ attempt: z.int(), feedback: Feedback }),
  'task.stagnated': z.strictObject({ category: Category, pointers: z.array(z.string()), rounds: z.array(z.int()) }),
  'restore.requested': z.strictObject({ attempt: z.int(), content: z.string(), why: z.enum(['exhausted', 'stagnated']) }),
  'task.accepted': z.strictObject({
    flag: DoneFlag,
    attempt: z.int(),
    content: z.string().nullable(),
    score: Score.optional(),
    why: z.string(),
  }),
  'task.force_accepted': z.strictObject({
    attempt: z.int(),
    content: z.string(),
    score: Score,
    vetoes: z.array(Veto),
    why: z.enum(['exhausted', 'stagnated']),
  }),
  /** What its case proposed became tasks, or was refused; once for each content that is accepted. */
  'task.delegated': z.strictObject({
    content: z.string(),
    delegated: z.array(z.strictObject({ task: TaskId, title: z.string(), to: z.string() })),
    refused: z.array(z.strictObject({ title: z.string(), to: z.string(), why: z.string() })),
  }),
  'task.held': z.strictObject({ reason: HeldReason, from: TaskStatus, detail: z.string() }),
  'hold.lifted': z.strictObject({ reason: HeldReason, to: TaskStatus, why: z.string() }),
  'task.failed': z.strictObject({ reason: z.string() }),
  'task.reopened': z.strictObject(actorReason),
  'task.overruled': z.strictObject({ outcome: z.enum(['pass', 'fail']), ...actorReason }),
  'task.reset': z.strictObject(actorReason),
  'attempts.granted': z.strictObject({ count: z.int().positive(), why: z.string() }),
  'input.reopened': z.strictObject({ task: z.string() }),
  'input.landed': z.strictObject({ input: TaskInput }),
  /** The owner let a changed policy take over; whatever is decided from here on is decided under it. */
  'policy.adopted': z.strictObject({
    policy: z.string(),
    bar: Bar,
    dimensions: z.array(Dimension).min(1),
    checks: z.array(CheckSpec),
    /** Where they change: a deliverable is held to what the gate asks now. */
    criteria: z.array(Criterion).optional(),
    by: z.string(),
  }),
  'operator.requested': z.strictObject({
    request: z.string(),
    kind: RequestKind,
    detail: z.string(),
    answers: z.array(OperatorAnswer),
  }),
  'operator.answered': z.strictObject({ request: z.string(), answer: OperatorAnswer, ...actorReason }),
}
