import type { Decision, Sitting, Veto } from '../../contract/review.ts'
import type { Criterion } from '../../contract/task.ts'
import { Category } from '../../contract/verdict.ts'
import { compare } from '../score/exact.ts'
import { describeBar, describeScore, scoreOf } from '../score/score.ts'
import { scoresOf, type Tally } from './consensus.ts'
import { furtherSeats } from './seating.ts'
import type { Panel, PanelRules } from './state.ts'

type Point = Decision['points'][number]

/** What a judge thinks of the work, in its own words. */
export function concernOf({ verdict, text }: Sitting): string {
  if (text) return text.feedback.trim() || `Scored ${text.score100} of 100, without a word.`
  return verdict?.concern ?? ''
}

/** What a rejecting judge asks for. A text judge's feedback is all that it says. */
export function adviceOf(sitting: Sitting): Point {
  return { from: sitting.judge, text: sitting.verdict?.next_step ?? concernOf(sitting) }
}

/** The commonest category among rejecting seats; of equally common ones the first in the order of the contract. */
export function commonestCategory(rejecting: readonly Sitting[]): Category {
  const given = rejecting.flatMap(({ verdict }) => verdict?.rejection_category ?? [])
  const count = (category: Category) => given.filter((other) => other === category).length
  if (given.length === 0) return 'acceptance_gap'
  return Category.options.reduce((best, category) => (count(category) > count(best) ? category : best))
}

/** The concern that says most: of the decision's own category, on evidence that was found, in the order of seats. */
export function mainConcern(rejecting: readonly Sitting[], category: Category): string | undefined {
  const ofCategory = rejecting.filter(({ verdict }) => verdict?.rejection_category === category)
  const best = ofCategory.find(({ leansOnUnresolved }) => !leansOnUnresolved) ?? ofCategory[0] ?? rejecting[0]
  return best && concernOf(best)
}

/** Evidence of the rejecting seats, sorted and unique: what they cite for the verdict and for criteria that are not met. */
export function surface(rejecting: readonly Sitting[]): string[] {
  const cited = rejecting.flatMap(({ verdict }) => {
    const unmet = verdict?.criteria.filter(({ met }) => met === 'no') ?? []
    return [...(verdict?.evidence ?? []), ...unmet.flatMap(({ evidence }) => evidence)]
  })
  return [...new Set(cited)].sort()
}

/** Why the work goes back though no seat rejected it: a veto stands from before, or the score is below the bar. */
export function unvotedRejection(
  graded: readonly Sitting[],
  count: Tally,
  vetoes: readonly Veto[],
  { criteria, dimensions, bar }: PanelRules,
): { concern: string; points: Point[] } {
  const standing = vetoes.map((veto) => ({ from: veto.judge, text: standingVeto(veto, criteria) }))
  const weakest = count.dimensions.reduce((low, dimension) => (compare(dimension.score, low.score) < 0 ? dimension : low))
  const scores = graded.map((sitting) => ({ sitting, score: scoresOf(sitting, dimensions).get(weakest.name) ?? weakest.score }))
  const { sitting } = scores.reduce((low, one) => (compare(one.score, low.score) < 0 ? one : low))
  const reasoning = sitting.verdict?.dimensions.find(({ name }) => name === weakest.name)?.reasoning ?? concernOf(sitting)
  const below = `The score ${describeScore(scoreOf(count.score))} is below the bar of ${describeBar(bar)}; the weakest dimension is ${weakest.name}.`
  return {
    concern: standing[0]?.text ?? below,
    points: [...standing, { from: sitting.judge, text: `${weakest.name}: ${reasoning}` }],
  }
}

/** Seats on the losing side. */
export function dissentFrom(passes: boolean, graded: readonly Sitting[]): Decision['dissent'] {
  return graded
    .filter(({ accepts }) => accepts !== passes)
    .map((sitting) => ({ judge: sitting.judge, accepts: sitting.accepts, concern: concernOf(sitting) }))
}

/** Seats without a grade and why, those that did not have to be asked included. */
export function missingSeats(panel: Panel, rules: PanelRules): Decision['missing'] {
  const missing: Decision['missing'] = []
  for (const { seat, judge, status } of panel.seats) {
    if (status === 'abstained' || status === 'void' || status === 'unavailable') missing.push({ seat, judge, why: status })
  }
  const unasked = furtherSeats(panel, rules, 'escalation').map(({ seat, judge }) => ({ seat, judge, why: 'not_needed' as const }))
  return [...missing, ...unasked]
}

/** A criterion as people know it. */
export function nameOf(id: string, criteria: readonly Criterion[]): string {
  const text = criteria.find((criterion) => criterion.id === id)?.text
  return text === undefined ? id : `${id} ("${text}")`
}

function standingVeto({ criterion, judge, review, evidence }: Veto, criteria: readonly Criterion[]): string {
  return `${judge} vetoed ${nameOf(criterion, criteria)} in review ${review} and that veto stands: ${evidence.join(', ')}.`
}
