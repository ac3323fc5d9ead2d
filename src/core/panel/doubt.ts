import { compare, distance, fromDecimal, type Rational } from '../score/exact.ts'
import { barOf, globalScore } from '../score/score.ts'
import { scoresOf, tally } from './consensus.ts'
import { gradedSittings, type Panel, type PanelRules } from './state.ts'

/** A score this close to the bar, or closer, might as well have fallen on the other side. */
const NEAR_THE_BAR = fromDecimal('0.25')

/** Whether the seats that have ended leave a doubt that one more judge should settle (SPEC §7, `escalate`). */
export function leavesDoubt(panel: Panel, rules: PanelRules): boolean {
  const graded = gradedSittings(panel)
  if (panel.seats.some(({ status }) => status === 'abstained' || status === 'void')) return true
  if (graded.some(({ contradictsScores, leansOnUnresolved }) => contradictsScores || leansOnUnresolved)) return true
  if (new Set(graded.map(({ accepts }) => accepts)).size > 1) return true
  return scoresDisagree(panel, rules) || nearTheBar(panel, rules)
}

function scoresDisagree(panel: Panel, { settings, dimensions }: PanelRules): boolean {
  const allowed = fromDecimal(settings.outlierDistance)
  const seats = gradedSittings(panel).map((sitting) => scoresOf(sitting, dimensions))
  return dimensions.some(({ name }) => {
    const scores = seats.flatMap((seat) => seat.get(name) ?? [])
    return scores.some((one) => scores.some((other) => compare(distance(one, other), allowed) > 0))
  })
}

function nearTheBar(panel: Panel, rules: PanelRules): boolean {
  const bar = barOf(rules.bar)
  const near = (score: Rational) => compare(distance(score, bar), NEAR_THE_BAR) <= 0
  const graded = gradedSittings(panel)
  if (graded.length === 0) return false
  return (
    graded.some((sitting) => near(globalScore(scoresOf(sitting, rules.dimensions), rules.dimensions))) || near(tally(panel, rules).score)
  )
}
