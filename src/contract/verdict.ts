import { z } from 'zod'

/** In the order that breaks ties between equally common categories. */
export const Category = z.enum(['scope_creep', 'acceptance_gap', 'weak_test', 'tests_pass_but_wrong', 'half_finished', 'spec_violation'])
export type Category = z.infer<typeof Category>

export const CriterionAnswer = z.strictObject({
  id: z.string(),
  evidence: z.array(z.string()),
  reasoning: z.string(),
  met: z.enum(['yes', 'no', 'cannot_tell']),
})
export type CriterionAnswer = z.infer<typeof CriterionAnswer>

export const DimensionAnswer = z.strictObject({ name: z.string(), reasoning: z.string(), score: z.int().min(1).max(5) })

export const PriorAnswer = z.strictObject({ ref: z.string(), addressed: z.enum(['yes', 'no', 'partly']), evidence: z.array(z.string()) })

/** What one judge returns, as SPEC §5 has it. Well-formedness beyond these shapes is decided in core/verdict. */
export const Verdict = z.strictObject({
  nonce: z.string(),
  prior: z.array(PriorAnswer),
  criteria: z.array(CriterionAnswer),
  dimensions: z.array(DimensionAnswer),
  verdict: z.enum(['accept', 'reject']),
  rejection_category: Category.nullable(),
  concern: z.string(),
  evidence: z.array(z.string()),
  next_step: z.string().nullable(),
})
export type Verdict = z.infer<typeof Verdict>

/** A text judge's answer: one score line and what it wrote around it. */
export const TextVerdict = z.strictObject({ score100: z.string().regex(/^\d{1,3}(\.\d{1,2})?$/), feedback: z.string() })
export type TextVerdict = z.infer<typeof TextVerdict>

/** How a judge may answer: by tool call or one JSON object; a text judge also by a score line. */
export const AnswerForm = z.enum(['structured', 'text'])
export type AnswerForm = z.infer<typeof AnswerForm>

/** A judge's reply exactly as it arrived. Reading it is core/verdict's job alone. */
export const RawReply = z.strictObject({
  /** `tool`: the raw argument text of the `submit_verdict` call; `text`: the whole reply. */
  channel: z.enum(['tool', 'text']),
  body: z.string(),
  /** The provider's finish reason; absent where the brain has none (a command that exited 0). */
  finish: z.string().optional(),
})
export type RawReply = z.infer<typeof RawReply>

/** What mechanical resolution of one evidence pointer came to. */
export const EvidenceResolution = z.strictObject({ pointer: z.string(), resolved: z.boolean(), why: z.string() })
export type EvidenceResolution = z.infer<typeof EvidenceResolution>

/** What a call cost, as far as the brain reported it. */
export const Usage = z.strictObject({
  inputTokens: z.int().nonnegative().optional(),
  outputTokens: z.int().nonnegative().optional(),
  costUsd: z.number().nonnegative().optional(),
  /** Part of the cost is what a call could cost at most, because its answer did not say what it used. */
  estimated: z.literal(true).optional(),
  durationMs: z.number().nonnegative().optional(),
})
export type Usage = z.infer<typeof Usage>
