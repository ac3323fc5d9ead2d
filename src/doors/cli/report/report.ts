import type { CheckReport } from '../../../contract/check.ts'
import type { DeliverableVerdict } from '../../../contract/deliverable/deliverable.ts'
import type { Bar, Score } from '../../../contract/score.ts'
import type { Category, CriterionAnswer } from '../../../contract/verdict.ts'
import { barOn100 } from '../render/task.ts'

/** What a one-shot review came to, as every format reports it. All text in it is somebody else's: a format escapes it for where it goes. */
export interface ReviewReport {
  subject: { kind: 'file' | 'folder' | 'diff' | 'url' | 'text'; name: string; digest: string }
  result: 'clean' | 'owner-accepted' | 'below-threshold' | 'unreviewed' | 'inconclusive'
  passed: boolean
  exitCode: 0 | 1 | 3
  /** Whoever accepted it in the judges' place, and why. */
  accepted?: { by: string; reason: string }
  /** Where the review was of a deliverable: what its producer hears. */
  deliverable?: { id: string; producer: string; verdict: DeliverableVerdict; attempt: number; allowed: number; next: string }
  score?: Score
  bar: Bar
  category: Category | null
  concern: string
  nextSteps: { from: string; text: string }[]
  criteria: CriterionReport[]
  dimensions: DimensionReport[]
  judges: JudgeReport[]
  checks: CheckReport[]
  suspicions: string[]
  warnings: string[]
  /** There were fewer independent judges than the configured quorum: this one was in force instead. */
  degraded?: { quorum: number }
  /** `reused`: verdicts that were given on exactly this question before; nobody was asked for them. `estimated`: calls that did not say what they used. */
  usage: { calls: number; reused?: number; inputTokens: number; outputTokens: number; costUsd?: number; estimated?: number }
  durationMs: number
}

export interface CriterionReport {
  id: string
  text: string
  hard: boolean
  answers: { judge: string; met: CriterionAnswer['met']; reasoning: string; evidence: { pointer: string; resolved: boolean }[] }[]
}

export interface DimensionReport {
  name: string
  score?: Score
  reasoning: { judge: string; text: string }[]
}

export interface JudgeReport {
  judge: string
  outcome: 'accepts' | 'rejects' | 'abstained' | 'void' | 'unavailable'
  score?: Score
  concern?: string
}

/**
 * Whether a result passes and how the process ends: one place, so that no format and no exit code can tell another story. What the owner accepted
 * has not passed: only what was accepted clean ends with 0.
 */
export function endingOf(result: ReviewReport['result'], evaluated = true): Pick<ReviewReport, 'result' | 'passed' | 'exitCode'> {
  if (result === 'clean') return { result, passed: true, exitCode: 0 }
  if (result === 'below-threshold') return { result, passed: false, exitCode: 1 }
  return result === 'unreviewed' && !evaluated ? { result, passed: true, exitCode: 0 } : { result, passed: false, exitCode: 3 }
}

/** The result in one word for people. */
export function resultWord({ result, deliverable }: Pick<ReviewReport, 'result' | 'deliverable'>): string {
  if (deliverable && deliverable.verdict !== 'PENDING') return deliverable.verdict
  return {
    clean: 'PASS',
    'owner-accepted': 'OWNER-ACCEPTED',
    'below-threshold': 'FAIL',
    unreviewed: 'UNREVIEWED',
    inconclusive: 'INCONCLUSIVE',
  }[result]
}

/** The result with its score against the bar; of what the owner accepted also by whom and why. Its texts are not escaped yet. */
export function headline(report: Pick<ReviewReport, 'result' | 'deliverable' | 'score' | 'bar' | 'accepted'>): string {
  const { score, bar, accepted } = report
  if (report.result !== 'owner-accepted') return `${resultWord(report)} ${againstBar(score, bar)}`
  const whose = accepted ? ` by ${accepted.by}: ${accepted.reason}` : ''
  return `${resultWord(report)} (${score === undefined ? 'UNSCORED' : againstBar(score, bar)})${whose}`
}

/** Whose it is, the tries that are left, and the next command; undefined where the review was of no deliverable. */
export function deliverableText({ deliverable }: Pick<ReviewReport, 'deliverable'>): string | undefined {
  if (!deliverable) return undefined
  const { id, producer, attempt, allowed, next } = deliverable
  return `deliverable ${id} by ${producer}: try ${attempt} of ${allowed}, ${Math.max(0, allowed - attempt)} left; next: ${next}`
}

/** The score against the bar on 0–100, e.g. `72/60`. */
export function againstBar(score: Score | undefined, bar: Bar): string {
  return score === undefined ? `unscored/${barOn100(bar)}` : `${score.on100}/${barOn100(bar)}`
}

/** Both sides on 0–100, where a score's two decimals are cut and a bar's are exact: below here is below in exact arithmetic. */
export function isBelow(score: Score, bar: Bar): boolean {
  return score.on100 < barOn100(bar)
}

/** What a criterion's answers come to: the worst of them, or that nobody answered. */
export function standingOf(criterion: CriterionReport): CriterionAnswer['met'] | 'unanswered' {
  const answers = criterion.answers.map(({ met }) => met)
  if (answers.includes('no')) return 'no'
  if (answers.includes('cannot_tell')) return 'cannot_tell'
  return answers.includes('yes') ? 'yes' : 'unanswered'
}

/** What it cost, in one line. */
export function usageText({ usage, durationMs }: Pick<ReviewReport, 'usage' | 'durationMs'>): string {
  const cost =
    usage.costUsd === undefined
      ? []
      : [`$${usage.costUsd.toFixed(4)}${usage.estimated === undefined ? '' : ` (${usage.estimated} estimated)`}`]
  const calls = `${usage.calls} ${usage.calls === 1 ? 'call' : 'calls'}`
  const reused =
    usage.reused === undefined ? [] : [`${usage.reused} ${usage.reused === 1 ? 'verdict' : 'verdicts'} as before, not asked again`]
  return [
    calls,
    ...reused,
    `${usage.inputTokens} tokens in`,
    `${usage.outputTokens} out`,
    ...cost,
    `${(durationMs / 1000).toFixed(1)} s`,
  ].join(', ')
}
