import { z } from 'zod'
import { AskReason, Decision, EligibleJudge, PriorPoint, Sitting, Subject, Veto } from '../review.ts'
import { Usage } from '../verdict.ts'

const review = z.int().positive()
const seat = z.int().positive()

export const reviewEvents = {
  'review.opened': z.strictObject({
    review,
    attempt: z.int().positive(),
    submission: z.int().positive(),
    subject: Subject,
    /** Digest of the case argued; the same content with another case may be judged once more. */
    caseDigest: z.string(),
    nonce: z.string().min(8),
    roster: z.array(EligibleJudge).min(1),
    size: z.int().positive(),
    quorum: z.int().positive(),
    degraded: z.boolean(),
    points: z.array(PriorPoint),
    warnings: z.array(z.string()),
    /** Worker text that addresses the reviewer or looks like a verdict: then every seat is asked. */
    suspicions: z.array(z.string()),
  }),
  'seat.asked': z.strictObject({
    review,
    seat,
    judge: z.string(),
    principal: z.string(),
    /** A fresh run of a judge already seated: fewer agents than seats. */
    repeat: z.boolean(),
    round: z.int().positive(),
    because: AskReason,
    /** The judge comes and answers by itself. */
    outside: z.literal(true).optional(),
    /** What was wrong with the reply before, for a reprompt. */
    complaint: z.string().optional(),
  }),
  'verdict.recorded': z.strictObject({
    review,
    round: z.int().positive(),
    sitting: Sitting,
    raw: z.string(),
    /** Digest of the texts that the judge was asked with, besides the material. */
    prompt: z.string().optional(),
    /** Digest of the whole question, nonce left out; the same question to the same judge is not paid for twice. */
    question: z.string().optional(),
    /** The verdict was given on the same question before, and was not asked for again. */
    reused: z.strictObject({ task: z.string(), review }).optional(),
  }),
  'task.eval.unparsed': z.strictObject({
    review,
    seat,
    judge: z.string(),
    round: z.int().positive(),
    reason: z.string(),
    raw: z.string(),
    usage: Usage.optional(),
  }),
  'seat.voided': z.strictObject({ review, seat, judge: z.string() }),
  'judge.unavailable': z.strictObject({
    review,
    seat,
    judge: z.string(),
    round: z.int().positive(),
    detail: z.string(),
    usage: Usage.optional(),
  }),
  'veto.raised': Veto,
  'veto.lifted': z.strictObject({ criterion: z.string(), principal: z.string(), by: z.enum(['judge', 'panel', 'owner']) }),
  'review.decided': z.strictObject({ review, attempt: z.int().positive(), decision: Decision }),
  /** Identical content has a graded decision already: it stands, nobody is asked. */
  'decision.reused': z.strictObject({ attempt: z.int().positive(), submission: z.int().positive(), review }),
  /** Another task came to a graded rejection on exactly this content, criteria, rubric and policy: it stands here too, nobody is asked. */
  'decision.carried': z.strictObject({
    review,
    attempt: z.int().positive(),
    submission: z.int().positive(),
    from: z.strictObject({ task: z.string(), review }),
    subject: Subject,
    caseDigest: z.string(),
    decision: Decision,
    judges: z.array(z.string()),
  }),
  /** The review ended without a decision and another takes its place (a fresh panel, or a changed policy). */
  'review.abandoned': z.strictObject({ review, why: z.enum(['unreadable', 'accepted_unread', 'policy_changed', 'input_changed']) }),
}
