import { z } from 'zod'
import { Content, Conversation } from '../case.ts'
import { CheckReport, CheckSpec } from '../check.ts'
import { AttemptFailure, attemptEvents } from '../events/attempt.ts'
import { OperatorAnswer, taskEvents } from '../events/task.ts'
import { RejectedBefore } from '../review.ts'
import { Bar, Dimension } from '../score.ts'
import { Criterion, TaskInput, TaskSpec } from '../task.ts'
import { EvidenceResolution, RawReply, Usage } from '../verdict.ts'

const attempt = z.int().positive()
const owner = { by: z.string().min(1), reason: z.string() }

/** What may be asked of a task. Each is decided as a whole: all its events, or a refusal. */
export const TaskCommand = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('create_task'), spec: TaskSpec }),
  /** All dependencies are done and gates passed. */
  z.strictObject({ type: z.literal('ready_task'), inputs: z.array(TaskInput), gates: z.array(z.string()).optional() }),
  /** A gate that it waits for is shut again. */
  z.strictObject({ type: z.literal('block_task'), gate: z.string() }),
  z.strictObject({ type: z.literal('skip_task'), because: z.string() }),

  z.strictObject({
    type: z.literal('start_attempt'),
    worker: z.string(),
    conversational: z.boolean(),
    participants: z.array(z.string()),
    sandboxed: z.boolean(),
    work: z.string().optional(),
    outside: z.literal(true).optional(),
  }),
  /** An outside worker is still at it. */
  z.strictObject({ type: z.literal('beat_attempt'), attempt, worker: z.string() }),
  z.strictObject({ type: z.literal('join_attempt'), attempt, participant: z.string() }),
  z.strictObject({
    type: z.literal('submit_case'),
    attempt,
    /** The worker's text, or null for a command that printed no case: then one is built from its output and marked implicit. */
    raw: z.string().nullable(),
    content: Content,
    usage: Usage.optional(),
    conversation: Conversation.optional(),
  }),
  /** A case that could not be read where it came in (too long, several at once): `raw` is its beginning. */
  z.strictObject({
    type: z.literal('refuse_case'),
    attempt,
    problems: z.array(z.string()).min(1),
    raw: z.string(),
    usage: Usage.optional(),
    conversation: Conversation.optional(),
  }),
  /** A conversational worker is about to use a tool, or has the tool's answer; what was said until then is kept. */
  z.strictObject({ type: z.literal('begin_call'), attempt, tool: z.string(), conversation: Conversation, usage: Usage.optional() }),
  z.strictObject({ type: z.literal('end_call'), attempt, conversation: Conversation }),
  /** A conversational worker ended its turn without a case. */
  z.strictObject({ type: z.literal('report_quiet'), attempt, usage: Usage.optional(), conversation: Conversation.optional() }),
  z.strictObject({ type: z.literal('keep_conversation'), attempt, conversation: Conversation }),
  z.strictObject({
    type: z.literal('fail_attempt'),
    attempt,
    failure: AttemptFailure,
    detail: z.string(),
    output: z.string().optional(),
    usage: Usage.optional(),
  }),
  z.strictObject({ type: z.literal('interrupt_attempt'), attempt, detail: z.string() }),
  z.strictObject({ type: z.literal('stop_attempt'), attempt, detail: z.string(), usage: Usage.optional() }),
  /** What came too late to be taken was paid for all the same. */
  z.strictObject({ type: z.literal('count_usage'), ...attemptEvents['usage.counted'].shape }),

  z.strictObject({
    type: z.literal('report_checks'),
    attempt,
    submission: z.int().positive(),
    reports: z.array(CheckReport),
    /** Fresh randomness for the review that may open; the core has none. */
    nonce: z.string().min(8),
    /** Worker text that addresses the reviewer or looks like a verdict. */
    suspicions: z.array(z.string()),
    /** The rejection of exactly this content, criteria, rubric and policy that another task came to, or the owner's word on it there. */
    before: RejectedBefore.optional(),
  }),
  z.strictObject({
    type: z.literal('record_reply'),
    review: z.int().positive(),
    seat: z.int().positive(),
    round: z.int().positive(),
    judge: z.string(),
    reply: RawReply,
    /** Digest of the texts that the judge was asked with. */
    prompt: z.string().optional(),
    question: z.string().optional(),
    reused: z.strictObject({ task: z.string(), review: z.int().positive() }).optional(),
    /** How each pointer in the reply resolved against the snapshot; a pointer not listed counts as unresolved. */
    resolutions: z.array(EvidenceResolution),
    nonce: z.string().min(8),
    usage: Usage.optional(),
  }),
  z.strictObject({
    type: z.literal('record_unavailable'),
    review: z.int().positive(),
    seat: z.int().positive(),
    round: z.int().positive(),
    judge: z.string(),
    detail: z.string(),
    nonce: z.string().min(8),
    usage: Usage.optional(),
  }),
  /** Accepted work is to be released, and was decided under an older policy: it is reviewed again, uncharged. */
  z.strictObject({ type: z.literal('judge_again'), nonce: z.string().min(8), reason: z.string() }),
  /** Ask again the seats of a review that is held because judges could not be reached. */
  z.strictObject({ type: z.literal('retry_review'), nonce: z.string().min(8) }),
  z.strictObject({ type: z.literal('confirm_restored'), attempt, content: z.string() }),
  /** What merging accepted content with the mission's branch came to, checks included. */
  z.strictObject({
    type: z.literal('report_merge'),
    /** Digest of the content that was to be merged. */
    content: z.string(),
    result: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('conflict'), paths: z.array(z.string()), detail: z.string() }),
      z.strictObject({
        kind: z.literal('merged'),
        commit: z.string(),
        onto: z.string(),
        /** The task's change as the merge has it. */
        content: Content,
        reports: z.array(CheckReport),
      }),
    ]),
    nonce: z.string().min(8),
    suspicions: z.array(z.string()),
  }),
  z.strictObject({ type: z.literal('confirm_published'), commit: z.string(), outcome: z.enum(['published', 'moved']) }),

  /** The proposals of the accepted case were looked at. */
  z.strictObject({ type: z.literal('record_delegations'), ...taskEvents['task.delegated'].shape }),
  z.strictObject({ type: z.literal('hold_task'), reason: z.enum(['budget', 'operator']), detail: z.string() }),
  /** `by`: whose word it is; the owner's ends a task whatever policy is in force by now. */
  z.strictObject({ type: z.literal('fail_task'), reason: z.string(), by: z.string().optional() }),
  /** An input was overruled to fail or reopened. */
  z.strictObject({ type: z.literal('input_reopened'), task: z.string() }),
  /** The reopened input landed again, with this digest. */
  z.strictObject({ type: z.literal('input_landed'), input: TaskInput, nonce: z.string().min(8) }),

  /** The owner's: the door has checked the authority before these reach the core. */
  z.strictObject({ type: z.literal('answer_request'), request: z.string(), answer: OperatorAnswer, nonce: z.string().min(8), ...owner }),
  z.strictObject({ type: z.literal('overrule_task'), outcome: z.enum(['pass', 'fail']), ...owner }),
  z.strictObject({ type: z.literal('reopen_task'), ...owner }),
  z.strictObject({ type: z.literal('reset_task'), ...owner }),
  z.strictObject({
    type: z.literal('adopt_policy'),
    nonce: z.string().min(8),
    bar: Bar,
    dimensions: z.array(Dimension).min(1),
    checks: z.array(CheckSpec),
    criteria: z.array(Criterion).optional(),
    by: z.string(),
  }),
])
export type TaskCommand = z.infer<typeof TaskCommand>
export type TaskCommandOf<T extends TaskCommand['type']> = Extract<TaskCommand, { type: T }>
