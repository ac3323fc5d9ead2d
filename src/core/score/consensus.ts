import { compare, distance, type Rational } from './exact.ts'
import { lowerMedian, midpointMedian } from './score.ts'

/** How several scores of one dimension become one. */
export interface ConsensusRule {
  /** Scores further than this from the lower median are set aside. */
  outlierDistance: Rational
  median: 'lower' | 'midpoint'
}

export interface Consensus {
  score: Rational
  /** For each value given, in that order: whether it was set aside as an outlier. */
  setAside: boolean[]
}

/** The median of what is left once outliers are set aside. Something is always left: the lower median is one of the values. */
export function consensusOf(values: readonly Rational[], rule: ConsensusRule): Consensus {
  const centre = lowerMedian(values)
  const setAside = values.map((value) => compare(distance(value, centre), rule.outlierDistance) > 0)
  const kept = values.filter((_, index) => !setAside[index])
  return { score: rule.median === 'lower' ? lowerMedian(kept) : midpointMedian(kept), setAside }
}
