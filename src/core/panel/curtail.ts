import { compare, type Rational, rational } from '../score/exact.ts'
import { highestConsensus, lowestConsensus } from '../score/extremes.ts'
import { globalScore, lowerMedian, reaches } from '../score/score.ts'
import { carries, ruleOf, scoresOf, type Tally, tally } from './consensus.ts'
import { furtherSeats } from './seating.ts'
import { askedJudges, gradedSittings, type Panel, type PanelRules } from './state.ts'
import { isUpheld, settleVetoes } from './veto.ts'

/** What the seats not asked yet could bring. */
interface Prospect {
  /** Further sittings of principals that were asked before. */
  again: ReadonlyMap<string, number>
  /** Most principals that may yet grade for the first time. */
  newcomers: number
  /** All scores, known and to come, are whole levels. */
  whole: boolean
}

/**
 * Whether some completion of the seats not asked yet would turn the decision (SPEC §7, `curtail`). For a panel with its quorum graded and
 * no seat open. Never false when a completion could turn it; a veto that an open seat might raise does not count.
 * Dimensions are scored independently of each other and of the vote, and any number of seats may end without a grade.
 */
export function mayStillTurn(panel: Panel, rules: PanelRules): boolean {
  const prospect = prospectOf(panel, rules)
  const { standing } = settleVetoes(panel, rules)
  if (standing.some((veto) => !prospect.again.has(veto.principal) || isUpheld(veto, panel))) return false
  const count = tally(panel, rules)
  const carried = carries(count, rules)
  if (carried && standing.length > 0) return true
  for (let newcomers = prospect.newcomers; newcomers >= 0; newcomers -= 1) {
    const votesTurn = carried ? mayLoseTheVote(count, prospect, newcomers) : count.accepts + newcomers > count.rejects
    const extreme = carried ? lowestConsensus : highestConsensus
    const scoreTurns = () => reaches(extremeScore(panel, rules, prospect, newcomers, extreme), rules.bar) !== carried
    if (carried ? votesTurn || scoreTurns() : votesTurn && scoreTurns()) return true
  }
  return false
}

/** A principal that accepts turns if one further sitting of it rejects. */
function mayLoseTheVote({ votes, accepts, rejects }: Tally, { again }: Prospect, newcomers: number): boolean {
  const turning = votes.filter((vote) => vote.accepts && again.has(vote.principal)).length
  return accepts - turning <= rejects + turning + newcomers
}

/** The global score if every dimension came out at its extreme with this many newcomers. */
function extremeScore(
  panel: Panel,
  rules: PanelRules,
  { again, whole }: Prospect,
  newcomers: number,
  extreme: typeof highestConsensus,
): Rational {
  const { dimensions, settings } = rules
  const sittings = gradedSittings(panel).map((sitting) => ({ principal: sitting.principal, scores: scoresOf(sitting, dimensions) }))
  const principals = Map.groupBy(sittings, ({ principal }) => principal)
  const scores = dimensions.map(({ name }): [string, Rational] => {
    const merged = [...principals].map(([principal, own]) =>
      settledScore(
        own.flatMap((sitting) => sitting.scores.get(name) ?? []),
        again.get(principal) ?? 0,
        whole,
      ),
    )
    const known = merged.filter((score) => score !== undefined)
    return [name, extreme(known, { count: newcomers + merged.length - known.length, whole }, ruleOf(settings))]
  })
  return globalScore(new Map(scores), dimensions)
}

/** A principal's merged score, if its further sittings cannot move it. */
function settledScore(scores: readonly Rational[], further: number, whole: boolean): Rational | undefined {
  const withFurther = (score: Rational) => lowerMedian([...scores, ...Array.from({ length: further }, () => score)])
  const lowest = withFurther(rational(whole ? 1 : 0))
  return compare(lowest, withFurther(rational(5))) === 0 ? lowest : undefined
}

function prospectOf(panel: Panel, rules: PanelRules): Prospect {
  const asked = askedJudges(panel)
  const principals = new Set(panel.roster.filter(({ judge }) => asked.has(judge)).map(({ principal }) => principal))
  const graded = new Set(gradedSittings(panel).map(({ principal }) => principal))
  const further = furtherSeats(panel, rules, 'escalation').map(({ principal }) => principal)
  const fresh = new Set(further.filter((principal) => !principals.has(principal))).size
  // Replacements may use up new principals, so that a later seat falls to another agent of a principal that sits already.
  const fallback = fresh > 1 ? panel.roster.filter(({ judge }) => !asked.has(judge)).map(({ principal }) => principal) : []
  const again = new Map<string, number>()
  for (const principal of [...further, ...fallback]) {
    if (principals.has(principal)) again.set(principal, (again.get(principal) ?? 0) + 1)
  }
  const returning = [...again.keys()].filter((principal) => !graded.has(principal)).length
  const whole = panel.roster.every(({ form }) => form === 'structured')
  return { again, newcomers: fresh + returning, whole }
}
