import { type ConsensusRule, consensusOf } from './consensus.ts'
import { add, compare, type Rational, rational, sub } from './exact.ts'

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
 * monotone (a low score may drop out and lift the rest), so it does not suffice to try the extremes.
 * It does suffice to try, for each centre c that the lower median could have: open scores at c, at the upper edge of what is kept
 * around c, and at the bottom of the scale where they are set aside. Any other place is no better: an open score kept below c does
 * more at c, one set aside above does more at the edge, and every position counts the same towards the lower median being c.
 * Between two of the centres tried, what is kept stays the same and the result only grows with c.
 */
export function highestConsensus(known: readonly Rational[], open: OpenScores, rule: ConsensusRule): Rational {
  const reach = rule.outlierDistance
  const centres = open.whole ? LEVELS : [TOP, ...known, ...known.map((score) => lower(add(score, reach), TOP))]
  const edge = (centre: Rational) => (open.whole ? levelAtMost(add(centre, reach)) : lower(add(centre, reach), TOP))
  const bottom = open.whole ? rational(1) : BOTTOM
  const found = centres.flatMap((centre) => completions(known, open.count, [bottom, centre, edge(centre)], rule))
  return found.reduce(higher)
}

/** The lowest consensus that known scores and open ones can still come to: the mirror image of the highest. */
export function lowestConsensus(known: readonly Rational[], open: OpenScores, rule: ConsensusRule): Rational {
  const reach = rule.outlierDistance
  const bottom = open.whole ? rational(1) : BOTTOM
  const centres = open.whole ? LEVELS : [bottom, ...known, ...known.map((score) => higher(sub(score, reach), bottom))]
  const edge = (centre: Rational) => (open.whole ? levelAtLeast(sub(centre, reach)) : higher(sub(centre, reach), bottom))
  const found = centres.flatMap((centre) => completions(known, open.count, [TOP, centre, edge(centre)], rule))
  return found.reduce(lower)
}

/** What comes of every way to give the open scores one of three values. */
function completions(
  known: readonly Rational[],
  count: number,
  [a, b, c]: [Rational, Rational, Rational],
  rule: ConsensusRule,
): Rational[] {
  const found: Rational[] = []
  for (let as = 0; as <= count; as += 1) {
    for (let bs = 0; as + bs <= count; bs += 1) {
      const open = Array.from({ length: count }, (_, index) => (index < as ? a : index < as + bs ? b : c))
      found.push(consensusOf([...known, ...open], rule).score)
    }
  }
  return found
}

function higher(a: Rational, b: Rational): Rational {
  return compare(a, b) >= 0 ? a : b
}

function lower(a: Rational, b: Rational): Rational {
  return compare(a, b) <= 0 ? a : b
}

function levelAtMost(limit: Rational): Rational {
  return LEVELS.filter((level) => compare(level, limit) <= 0).reduce(higher)
}

function levelAtLeast(limit: Rational): Rational {
  return LEVELS.filter((level) => compare(level, limit) >= 0).reduce(lower)
}
