import { z } from 'zod'
import { CheckReport } from '../check.ts'
import { Veto } from '../review.ts'
import { Bar, Score } from '../score.ts'
import { Criterion, DoneFlag } from '../task.ts'
import { StreamMark } from './checkpoint.ts'

export const statementType = 'https://in-toto.io/Statement/v1'
export const testResultType = 'https://in-toto.io/attestation/test-result/v0.1'

/** A thing and the digests of its bytes; hex without a prefix, as in-toto writes them. */
export const Resource = z.looseObject({ name: z.string().optional(), digest: z.record(z.string(), z.string()).optional() })
export type Resource = z.infer<typeof Resource>

/** PASSED: accepted clean. WARNED: accepted, but below the bar, by the owner, without a review, or under a policy that the owner has not accepted. FAILED: it did not pass. */
export const TestResult = z.enum(['PASSED', 'WARNED', 'FAILED'])
export type TestResult = z.infer<typeof TestResult>

/** What one judge came to. */
export const AttestedJudge = z.strictObject({
  judge: z.string(),
  principal: z.string(),
  outcome: z.enum(['accepts', 'rejects', 'abstained', 'unreadable', 'unavailable']),
  score: Score.optional(),
  concern: z.string().optional(),
})
export type AttestedJudge = z.infer<typeof AttestedJudge>

/** Everything of a decision that the predicate of a test result has no field for. */
export const AttestedDecision = z.strictObject({
  version: z.literal(1),
  /** `task` or `deliverable`. */
  kind: z.string(),
  id: z.string(),
  title: z.string(),
  /** The task that a deliverable was decided on in. */
  task: z.string().optional(),
  producer: z.string(),
  /** How it ended: `clean`, `below-threshold`, `unreviewed`, `owner-accepted`, `bypassed` or `failed`. */
  flag: z.union([DoneFlag, z.literal('bypassed'), z.literal('failed')]),
  why: z.string(),
  score: Score.optional(),
  bar: Bar,
  /** Digests that the verdicts are bound to; absent where nobody reviewed it. */
  bound: z.strictObject({ content: z.string(), criteria: z.string(), rubric: z.string(), policy: z.string() }).optional(),
  policy: z.string(),
  /** Whether the owner stands behind that policy. */
  policyAccepted: z.boolean().optional(),
  /** What the owner does not stand behind, term by term: of the policy, or what the task says otherwise. */
  notAccepted: z.array(z.string()).optional(),
  content: z.string(),
  snapshot: z.string(),
  criteria: z.array(Criterion),
  dimensions: z.array(z.strictObject({ name: z.string(), weight: z.number(), score: Score.optional() })),
  judges: z.array(AttestedJudge),
  quorum: z.int().optional(),
  degraded: z.boolean().optional(),
  checks: z.array(CheckReport.pick({ id: true, kind: true, outcome: true, summary: true })),
  vetoes: z.array(Veto),
  /** Entries of the work that are no plain files: reviewed as such, with no bytes to attest. */
  refused: z.array(z.strictObject({ path: z.string(), why: z.string() })),
  /** The place in the journal that this was read from. */
  head: StreamMark.extend({ position: z.int().positive() }),
  decidedAt: z.string(),
  /** The decision counts until then: what lies at an address may be something else by now. */
  expires: z.string().optional(),
})
export type AttestedDecision = z.infer<typeof AttestedDecision>

/** Whether a decision counts no longer. */
export function hasExpired({ expires }: Pick<AttestedDecision, 'expires'>, now: number): boolean {
  return expires !== undefined && Date.parse(expires) <= now
}

/** An in-toto statement with a test result. Unknown fields are left alone; `assay` is ours. */
export const Statement = z.looseObject({
  _type: z.literal(statementType),
  subject: z.array(Resource).min(1),
  predicateType: z.literal(testResultType),
  predicate: z.looseObject({
    result: TestResult,
    configuration: z.array(Resource),
    passedTests: z.array(z.string()).optional(),
    warnedTests: z.array(z.string()).optional(),
    failedTests: z.array(z.string()).optional(),
    assay: AttestedDecision.optional(),
  }),
})
export type Statement = z.infer<typeof Statement>

/** A subject that is no file: what the worker printed. Names of files never begin like this. */
export const outputSubject = 'assay:output'
