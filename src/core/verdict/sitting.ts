import type { Sitting } from '../../contract/review.ts'
import type { Bar, Dimension } from '../../contract/score.ts'
import type { Criterion } from '../../contract/task.ts'
import type { EvidenceResolution, Usage, Verdict } from '../../contract/verdict.ts'
import { fromDecimal, type Rational, rational } from '../score/exact.ts'
import { globalScore, reaches, scoreOf } from '../score/score.ts'
import type { ReadReply } from './read.ts'

/** Who sat, and what the reply is measured against. */
export interface Seat {
  seat: number
  judge: string
  principal: string
  criteria: readonly Criterion[]
  dimensions: readonly Dimension[]
  bar: Bar
  resolutions: readonly EvidenceResolution[]
  usage?: Usage
}

/** Every evidence pointer of a verdict, once, in the order in which the verdict names them. */
export function evidencePointers(verdict: Verdict): string[] {
  const lists = [...verdict.prior.map(({ evidence }) => evidence), ...verdict.criteria.map(({ evidence }) => evidence), verdict.evidence]
  return [...new Set(lists.flat())]
}

/** What a readable reply comes to in its seat. */
export function sittingOf(read: Exclude<ReadReply, { kind: 'unreadable' }>, seat: Seat): Sitting {
  const who = { seat: seat.seat, judge: seat.judge, principal: seat.principal, ...(seat.usage === undefined ? {} : { usage: seat.usage }) }
  if (read.kind === 'text') {
    const score = textScore(read.text.score100, seat.dimensions)
    const accepts = reaches(score, seat.bar)
    const plain = { contradictsScores: false, resolutions: [], leansOnUnresolved: false }
    return { ...who, outcome: 'graded', text: read.text, score: scoreOf(score), accepts, ...plain }
  }
  const { verdict } = read
  const resolutions = resolutionsFor(verdict, seat.resolutions)
  if (abstains(verdict, seat.criteria)) {
    return { ...who, outcome: 'abstained', verdict, accepts: false, contradictsScores: false, resolutions, leansOnUnresolved: false }
  }
  const score = globalScore(new Map(verdict.dimensions.map((answer) => [answer.name, rational(answer.score)])), seat.dimensions)
  const accepts = verdict.verdict === 'accept'
  return {
    ...who,
    outcome: 'graded',
    verdict,
    score: scoreOf(score),
    accepts,
    contradictsScores: accepts !== reaches(score, seat.bar),
    resolutions,
    leansOnUnresolved: leansOnUnresolved(verdict, seat.criteria, resolutions),
  }
}

/** A text judge's number counts for every dimension, on the 1–5 scale. */
function textScore(score100: string, dimensions: readonly Dimension[]): Rational {
  const each = fromDecimal(score100)
  return globalScore(new Map(dimensions.map(({ name }) => [name, rational(each.n, each.d * 20n)])), dimensions)
}

/** `cannot_tell` on a hard criterion and `no` on none of them, whatever the verdict field says. */
function abstains(verdict: Verdict, criteria: readonly Criterion[]): boolean {
  const answers = hardAnswers(verdict, criteria).map(({ met }) => met)
  return answers.includes('cannot_tell') && !answers.includes('no')
}

function hardAnswers(verdict: Verdict, criteria: readonly Criterion[]): Verdict['criteria'] {
  const hard = new Set(criteria.filter((criterion) => criterion.hard).map(({ id }) => id))
  return verdict.criteria.filter(({ id }) => hard.has(id))
}

/** One resolution per pointer. What nobody looked up, or what was ever found wanting, is unresolved. */
function resolutionsFor(verdict: Verdict, given: readonly EvidenceResolution[]): EvidenceResolution[] {
  const known = new Map<string, EvidenceResolution>()
  for (const resolution of given) {
    if (known.get(resolution.pointer)?.resolved !== false) known.set(resolution.pointer, resolution)
  }
  return evidencePointers(verdict).map((pointer) => known.get(pointer) ?? { pointer, resolved: false, why: 'not looked up' })
}

/**
 * Whether a decisive claim rests only on evidence that was not found.
 * Accept: a criterion answered yes that cites evidence, none of it found.
 * Reject: a hard criterion answered no, by its own evidence or, citing none, by the verdict's; without such a criterion, the rejection as a whole,
 * by the verdict's evidence, that of criteria answered no and that of prior points still open. A rejection that cites nothing rests on nothing.
 */
function leansOnUnresolved(verdict: Verdict, criteria: readonly Criterion[], resolutions: readonly EvidenceResolution[]): boolean {
  const found = new Set(resolutions.filter(({ resolved }) => resolved).map(({ pointer }) => pointer))
  const backed = (evidence: readonly string[]) => evidence.some((pointer) => found.has(pointer))
  if (verdict.verdict === 'accept')
    return verdict.criteria.some(({ met, evidence }) => met === 'yes' && evidence.length > 0 && !backed(evidence))
  const unmet = hardAnswers(verdict, criteria).filter(({ met }) => met === 'no')
  if (unmet.length > 0) return unmet.some(({ evidence }) => !backed(evidence.length > 0 ? evidence : verdict.evidence))
  const grounds = [
    ...verdict.criteria.filter(({ met }) => met === 'no').map(({ evidence }) => evidence),
    ...verdict.prior.filter(({ addressed }) => addressed !== 'yes').map(({ evidence }) => evidence),
    verdict.evidence,
  ]
  return !backed(grounds.flat())
}
