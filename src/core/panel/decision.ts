import type { Decision, DimensionConsensus, Sitting, Veto } from '../../contract/review.ts'
import { scoreOf } from '../score/score.ts'
import { carries, type PrincipalVote, type Tally, tally } from './consensus.ts'
import {
  adviceOf,
  commonestCategory,
  concernOf,
  dissentFrom,
  mainConcern,
  missingSeats,
  nameOf,
  surface,
  unvotedRejection,
} from './remarks.ts'
import { bindingVetoes } from './seating.ts'
import { gradedSittings, type Panel, type PanelRules, type VetoLift } from './state.ts'
import { settleVetoes } from './veto.ts'

/**
 * What a panel with its quorum comes to. It passes iff the score reaches the bar, a strict majority of graded principals accept and no
 * veto stands; else it is a rejection that says what to do.
 */
export function decidePanel(panel: Panel, rules: PanelRules): { decision: Decision; raised: Veto[]; lifted: VetoLift[] } {
  const { raised, lifted, standing } = settleVetoes(panel, rules)
  const count = tally(panel, rules)
  const graded = gradedSittings(panel)
  const passes = count.votes.length >= panel.quorum && carries(count, rules) && standing.length === 0
  const decision: Decision = {
    ...frame(panel, rules, count),
    outcome: passes ? 'pass' : 'reject',
    graded: true,
    score: scoreOf(count.score),
    dimensions: count.dimensions.map((dimension) => dimensionRecord(dimension, count.votes, graded)),
    vetoes: standing,
    dissent: dissentFrom(passes, graded),
    ...(passes ? approval(graded) : rejection(graded, count, standing, rules)),
  }
  return { decision, raised, lifted }
}

/** Too few seats could tell and nobody failed: the gap is the work's, and the rejection names what could not be told. */
export function cannotTell(panel: Panel, rules: PanelRules): Decision {
  const untold = panel.seats.flatMap(({ status, sitting }) => (status === 'abstained' && sitting ? untoldBy(sitting, rules) : []))
  const shortOf = `Fewer than ${panel.quorum} principals could grade this.`
  const points = untold.length > 0 ? untold : [{ from: 'runtime', text: shortOf }]
  return ungraded(panel, rules, {
    concern: [shortOf, ...untold.map(({ text }) => text)].join(' '),
    points,
    parse_failed: false,
    category: 'acceptance_gap',
  })
}

/** Nobody could be read. The rejection is made in code, and says so. */
export function unreadable(panel: Panel, rules: PanelRules): Decision {
  const concern = `No verdict: ${unreadableDetail(panel)}.`
  return ungraded(panel, rules, { concern, points: [{ from: 'runtime', text: concern }], parse_failed: true })
}

/** Which seats stayed unreadable, and what was wrong last. */
export function unreadableDetail(panel: Panel): string {
  return seatProblems(panel, 'void', 'could not be read')
}

/** Which seats could not be reached, and what happened last. */
export function unavailableDetail(panel: Panel): string {
  return seatProblems(panel, 'unavailable', 'could not be reached')
}

function seatProblems(panel: Panel, status: 'void' | 'unavailable', what: string): string {
  const seats = panel.seats.filter((seat) => seat.status === status)
  return seats.map(({ seat, judge, problem = 'no reason given' }) => `seat ${seat} (${judge}) ${what}: ${problem}`).join('; ')
}

/** What every decision says about its panel. */
function frame(panel: Panel, rules: PanelRules, count: Pick<Tally, 'accepts' | 'rejects'>) {
  const { quorum, degraded } = panel
  const missing = missingSeats(panel, rules)
  return { parse_failed: false, bar: rules.bar, accepts: count.accepts, rejects: count.rejects, quorum, degraded, missing }
}

function approval(graded: readonly Sitting[]): Pick<Decision, 'category' | 'concern' | 'points' | 'pointers'> {
  const voice = graded.find(({ accepts }) => !accepts) ?? graded[0]
  return { category: null, concern: voice ? concernOf(voice) : '', points: [], pointers: [] }
}

function rejection(graded: readonly Sitting[], count: Tally, standing: readonly Veto[], rules: PanelRules) {
  const rejecting = graded.filter(({ accepts }) => !accepts)
  const category = commonestCategory(rejecting)
  const concern = mainConcern(rejecting, category)
  if (concern === undefined) return { category, pointers: [], ...unvotedRejection(graded, count, standing, rules) }
  return { category, concern, points: rejecting.map(adviceOf), pointers: surface(rejecting) }
}

/** A rejection without a quorum: no evidence about the work, no score. What single seats had to say is passed on all the same. */
function ungraded(
  panel: Panel,
  rules: PanelRules,
  why: Pick<Decision, 'concern' | 'points' | 'parse_failed'> & Partial<Pick<Decision, 'category'>>,
): Decision {
  const graded = gradedSittings(panel)
  const rejecting = graded.filter(({ accepts }) => !accepts)
  const count = graded.length > 0 ? tally(panel, rules) : { accepts: 0, rejects: 0 }
  return {
    ...frame(panel, rules, count),
    outcome: 'reject',
    graded: false,
    dimensions: [],
    category: commonestCategory(rejecting),
    pointers: surface(rejecting),
    vetoes: [...bindingVetoes(rules)],
    dissent: dissentFrom(false, graded),
    ...why,
    points: [...why.points, ...rejecting.map(adviceOf)],
  }
}

function untoldBy({ judge, verdict }: Sitting, { criteria }: PanelRules): Decision['points'] {
  const untold = verdict?.criteria.filter(({ met }) => met === 'cannot_tell') ?? []
  return untold.map(({ id, reasoning }) => ({ from: judge, text: `Cannot tell whether ${nameOf(id, criteria)} is met: ${reasoning}` }))
}

function dimensionRecord(
  { name, score, setAside }: Tally['dimensions'][number],
  votes: readonly PrincipalVote[],
  graded: readonly Sitting[],
): DimensionConsensus {
  return {
    name,
    score: scoreOf(score),
    setAside: votes.flatMap(({ principal, judge, scores }, index) => {
      const own = scores.get(name)
      return own && setAside[index] ? [{ principal, judge, score: scoreOf(own) }] : []
    }),
    reasoning: graded.flatMap(({ judge, verdict }) => {
      const answer = verdict?.dimensions.find((dimension) => dimension.name === name)
      return answer ? [{ judge, text: answer.reasoning }] : []
    }),
  }
}
