import { type ConsensusRule, consensusOf } from './consensus.ts'
import { add, compare, mul, type Rational, rational, sub } from './exact.ts'

/** Scores still to come. `whole` ones are integers from 1 to 5; the others (a text judge's) lie anywhere from 0 to 5. */
export interface OpenScores {
  count: number
  whole: boolean
}

const BOTTOM = rational(0)
const TOP = rational(5)
const LEVELS = [1, 2, 3, 4, 5].map((level) => rational(level))

/**
 * The highest consensus that known scores and open ones can still come to. Setting outliers aside makes the consensus anything but
 * monotone (a low score may drop out and lift the rest), so it does not suffice to try the ends of the scale. It does suffice to give all
 * open scores one value. For let c be the lower median of the best completion, and the edge the highest value kept around c:
 * - if the result is at most c, every open score does no worse at c; if it is above c, every open score does no worse at the edge;
 * - between the known scores, and those moved up by the distance, what is kept stays the same and the result only grows with c.
 * So the one value is a level or, where scores are not whole, the top or a known score moved up by the distance at most twice.
 */
export function highestConsensus(known: readonly Rational[], open: OpenScores, rule: ConsensusRule): Rational {
  const values = open.whole ? LEVELS : [TOP, ...known.flatMap((score) => stepsOf(rule).map((step) => lower(add(score, step), TOP)))]
  return values.map((value) => completed(known, open.count, value, rule)).reduce(higher)
}

/** The lowest consensus that known scores and open ones can still come to: the mirror image of the highest. */
export function lowestConsensus(known: readonly Rational[], open: OpenScores, rule: ConsensusRule): Rational {
  const values = open.whole ? LEVELS : [BOTTOM, ...known.flatMap((score) => stepsOf(rule).map((step) => higher(sub(score, step), BOTTOM)))]
  return values.map((value) => completed(known, open.count, value, rule)).reduce(lower)
}

function completed(known: readonly Rational[], count: number, value: Rational, rule: ConsensusRule): Rational {
  return consensusOf([...known, ...Array.from({ length: count }, () => value)], rule).score
}

function stepsOf({ outlierDistance }: ConsensusRule): Rational[] {
  return [0, 1, 2].map((times) => mul(outlierDistance, rational(times)))
}

function higher(a: Rational, b: Rational): Rational {
  return compare(a, b) > 0 ? a : b
}

function lower(a: Rational, b: Rational): Rational {
  return compare(a, b) < 0 ? a : b
}
