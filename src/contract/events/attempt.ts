import { z } from 'zod'
import { Case, Content, Conversation } from '../case.ts'
import { CheckReport } from '../check.ts'
import { Category, Usage } from '../verdict.ts'

const attempt = z.int().positive()

/** Why an attempt ended without a reviewable case. */
export const AttemptFailure = z.enum(['not_found', 'spawn_error', 'exit', 'signal', 'timeout', 'output', 'lease_lost', 'error'])
export type AttemptFailure = z.infer<typeof AttemptFailure>

export const attemptEvents = {
  'attempt.started': z.strictObject({
    attempt,
    worker: z.string(),
    principal: z.string(),
    /** May correct its case and its checks within the attempt (model, MCP, HTTP); a command or CLI agent may not. */
    conversational: z.boolean(),
    /** Agents other than the worker that take part; none of them may judge. */
    participants: z.array(z.string()),
    /** False where no sandbox separates the worker from the journal. */
    sandboxed: z.boolean(),
    /** The work item that began it: the same item delivered again means that the turn was cut off. */
    work: z.string().optional(),
    /** The worker took the task itself; it loses it when it is not heard of for too long. */
    outside: z.literal(true).optional(),
  }),
  /** An outside worker is still there. */
  'attempt.beat': z.strictObject({ attempt }),
  'attempt.failed': z.strictObject({
    attempt,
    failure: AttemptFailure,
    detail: z.string(),
    output: z.string().optional(),
    usage: Usage.optional(),
  }),
  'attempt.interrupted': z.strictObject({
    attempt,
    detail: z.string(),
    /** What its worker had used before the call that was cut off, where that is known. */
    worker: z.string().optional(),
    usage: Usage.optional(),
  }),
  /** A clean stop ended the attempt; it is not charged. */
  'attempt.stopped': z.strictObject({
    attempt,
    detail: z.string(),
    /** What its worker had used, where that is known. */
    worker: z.string().optional(),
    usage: Usage.optional(),
  }),
  /** What a worker or judge had used when the task came to an end without it: what it brought was not taken any more, but it was paid for. */
  'usage.counted': z.strictObject({ as: z.enum(['working', 'judging']), agent: z.string(), attempt, usage: Usage }),
  'attempt.joined': z.strictObject({ attempt, participant: z.string() }),
  /** Code rejected the attempt before any judge. */
  'attempt.rejected': z.strictObject({
    attempt,
    category: Category,
    cause: z.enum(['empty', 'checks', 'case', 'quiet', 'merge', 'owner']),
    detail: z.string(),
    reports: z.array(CheckReport),
    /** What the attempt used and no case has told. */
    usage: Usage.optional(),
  }),
  'case.submitted': z.strictObject({
    attempt,
    submission: z.int().positive(),
    case: Case,
    implicit: z.boolean(),
    content: Content,
    usage: Usage.optional(),
    /** Where a conversational worker's next turn goes on. */
    conversation: Conversation.optional(),
  }),
  'case.parse_error': z.strictObject({
    attempt,
    problems: z.array(z.string()).min(1),
    raw: z.string(),
    conversation: Conversation.optional(),
  }),
  'worker.reminded': z.strictObject({ attempt, conversation: Conversation.optional() }),
  /** What was said since, although no tool with effects was used: a limit counts it after a crash too, and nobody pays for it twice. */
  'conversation.kept': z.strictObject({ attempt, conversation: Conversation }),
  /** A conversational worker is about to use a tool: durable before, so that a crash in the middle is known for what it is. */
  'call.begun': z.strictObject({
    attempt,
    call: z.int().positive(),
    tool: z.string(),
    conversation: Conversation,
    /** What the attempt has used and no case has told. */
    usage: Usage.optional(),
  }),
  'call.ended': z.strictObject({ attempt, call: z.int().positive(), conversation: Conversation }),
  'checks.passed': z.strictObject({
    attempt,
    submission: z.int().positive(),
    content: z.string(),
    reports: z.array(CheckReport),
    suspicions: z.array(z.string()),
  }),
  /** The same submission is checked again: what has to pass has changed. */
  'checks.requested': z.strictObject({ attempt, submission: z.int().positive() }),
  'checks.failed': z.strictObject({ attempt, submission: z.int().positive(), content: z.string(), reports: z.array(CheckReport) }),
}
