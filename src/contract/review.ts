import { z } from 'zod'
import { CheckReport } from './check.ts'
import { Bar, Score } from './score.ts'
import { AnswerForm, Category, EvidenceResolution, TextVerdict, Usage, Verdict } from './verdict.ts'

/** What a verdict is bound to: content, criteria, rubric and policy, never a name. */
export const Subject = z.strictObject({ content: z.string(), criteria: z.string(), rubric: z.string(), policy: z.string() })
export type Subject = z.infer<typeof Subject>

/** Why an agent may sit, in the order of SPEC §2. */
export const ReviewerStanding = z.enum(['delegator', 'reviewer', 'manager', 'other'])
export type ReviewerStanding = z.infer<typeof ReviewerStanding>

/** An agent that may judge this task, as routing found it. */
export const EligibleJudge = z.strictObject({
  judge: z.string(),
  principal: z.string(),
  standing: ReviewerStanding,
  form: AnswerForm,
  /** What it shares with the worker; recorded and warned about even where allowed. */
  shares: z.enum(['nothing', 'provider', 'model']),
  /** Assay cannot ask it: it comes and answers by itself. */
  outside: z.literal(true).optional(),
})
export type EligibleJudge = z.infer<typeof EligibleJudge>

/** One remark of prior feedback that the next review must answer. */
export const PriorPoint = z.strictObject({
  ref: z.string(),
  source: z.enum(['judge', 'check', 'runtime']),
  from: z.string(),
  text: z.string(),
})
export type PriorPoint = z.infer<typeof PriorPoint>

/** A hard criterion that a judge found unmet, on evidence that resolved. Blocks acceptance until lifted. */
export const Veto = z.strictObject({
  criterion: z.string(),
  judge: z.string(),
  principal: z.string(),
  review: z.int(),
  evidence: z.array(z.string()),
})
export type Veto = z.infer<typeof Veto>

/** Why a seat was asked. */
export const AskReason = z.enum(['opening', 'escalation', 'reprompt', 'replacement', 'retry'])
export type AskReason = z.infer<typeof AskReason>

/** A sitting that counts as evidence about the work (`graded`), or says honestly that it cannot tell (`abstained`). */
export const Sitting = z.strictObject({
  seat: z.int(),
  judge: z.string(),
  principal: z.string(),
  outcome: z.enum(['graded', 'abstained']),
  /** Exactly one of the two. */
  verdict: Verdict.optional(),
  text: TextVerdict.optional(),
  /** The judge's own weighted score; absent for an abstention. */
  score: Score.optional(),
  accepts: z.boolean(),
  /** Accepts below the bar or rejects above it: allowed, and a reason to ask further. */
  contradictsScores: z.boolean(),
  resolutions: z.array(EvidenceResolution),
  /** A decisive claim rests on evidence that was not found. */
  leansOnUnresolved: z.boolean(),
  usage: Usage.optional(),
})
export type Sitting = z.infer<typeof Sitting>

export const DimensionConsensus = z.strictObject({
  name: z.string(),
  score: Score,
  setAside: z.array(z.strictObject({ principal: z.string(), judge: z.string(), score: Score })),
  reasoning: z.array(z.strictObject({ judge: z.string(), text: z.string() })),
})
export type DimensionConsensus = z.infer<typeof DimensionConsensus>

/** What a panel's verdicts come to. Computed in code. */
export const Decision = z.strictObject({
  outcome: z.enum(['pass', 'reject']),
  /** At least a quorum of principals graded the work. Only such a decision is evidence, and only it can be force-accepted on. */
  graded: z.boolean(),
  parse_failed: z.boolean(),
  score: Score.optional(),
  bar: Bar,
  dimensions: z.array(DimensionConsensus),
  accepts: z.int().nonnegative(),
  rejects: z.int().nonnegative(),
  quorum: z.int().positive(),
  degraded: z.boolean(),
  category: Category.nullable(),
  concern: z.string(),
  /** What the worker is asked to do: one per rejecting seat, or the weakest dimension where no seat rejected. */
  points: z.array(z.strictObject({ from: z.string(), text: z.string() })),
  /** Evidence pointers of the rejecting seats, sorted and unique: the surface of the rejection. */
  pointers: z.array(z.string()),
  /** Vetoes that stand after this review. */
  vetoes: z.array(Veto),
  dissent: z.array(z.strictObject({ judge: z.string(), accepts: z.boolean(), concern: z.string() })),
  /** Seats that gave no grade, and why. */
  missing: z.array(z.strictObject({ seat: z.int(), judge: z.string(), why: z.enum(['abstained', 'void', 'unavailable', 'not_needed']) })),
})
export type Decision = z.infer<typeof Decision>

/** What another task came to on exactly this subject: the owner turned it down there, or judges rejected it. */
export const RejectedBefore = z.union([
  z.strictObject({ task: z.string(), owner: z.string() }),
  z.strictObject({
    task: z.string(),
    review: z.int().positive(),
    subject: Subject,
    caseDigest: z.string(),
    decision: Decision,
    judges: z.array(z.string()),
  }),
])
export type RejectedBefore = z.infer<typeof RejectedBefore>

/** What goes back to the worker. */
export const Feedback = z.strictObject({
  category: Category.nullable(),
  summary: z.string(),
  points: z.array(PriorPoint),
  reasoning: z.array(z.strictObject({ dimension: z.string(), judge: z.string(), text: z.string() })),
  checks: z.array(CheckReport),
  /** E.g. that partial effects of an interrupted turn may exist, or that a concern recurs. */
  notes: z.array(z.string()),
})
export type Feedback = z.infer<typeof Feedback>

/** One entry of the decision history that worker and judges both see. */
export const LedgerEntry = z.strictObject({
  entry: z.int().positive(),
  attempt: z.int(),
  review: z.int().optional(),
  /** `panel`: judges graded it; `unreadable`: nobody could be read; `mechanical`: code rejected it before any judge; `owner`: a person decided. */
  source: z.enum(['panel', 'unreadable', 'mechanical', 'owner']),
  outcome: z.enum(['pass', 'reject']),
  score: Score.optional(),
  category: Category.nullable(),
  concern: z.string(),
  points: z.array(z.string()),
  pointers: z.array(z.string()),
  content: z.string().optional(),
})
export type LedgerEntry = z.infer<typeof LedgerEntry>
