import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ConsensusRule, consensusOf } from './consensus.ts'
import { compare, fromDecimal } from './exact.ts'

const of = (...values: number[]) => values.map((value) => fromDecimal(value))
const rule = (outlierDistance = 1.5, median: ConsensusRule['median'] = 'lower'): ConsensusRule => ({
  outlierDistance: fromDecimal(outlierDistance),
  median,
})

describe('consensusOf', () => {
  it.each<[string, number[], ConsensusRule, number, number[]]>([
    ['one is its own', [4], rule(), 4, []],
    ['the middle of three', [3, 5, 4], rule(), 4, []],
    ['the lower of two', [4, 3], rule(), 3, []],
    ['halfway of two', [4, 3], rule(1.5, 'midpoint'), 3.5, []],
    ['an outlier below is set aside', [1, 4, 5], rule(), 4, [0]],
    ['an outlier above is set aside', [5, 2, 2], rule(), 2, [0]],
    ['exactly at the distance is kept', [2.5, 4, 4], rule(), 4, []],
    ['just beyond it is not', [2.49, 4, 4], rule(), 4, [0]],
    ['both sides at once', [1, 3, 5], rule(), 3, [0, 2]],
    ['two lows dropped lift the rest', [1, 1, 4, 5, 5], rule(), 5, [0, 1]],
    ['measured from the lower median of all', [1, 2, 4, 5], rule(), 1, [2, 3]],
    ['a wide distance keeps all', [1, 1, 4, 5, 5], rule(9), 4, []],
  ])('%s: %o', (_, values, by, score, aside) => {
    const found = consensusOf(of(...values), by)
    expect(found.score).toEqual(fromDecimal(score))
    expect(found.setAside.flatMap((is, index) => (is ? [index] : []))).toEqual(aside)
  })

  it('does not depend on the order, and lies among the values kept', () => {
    const values = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(
        values,
        fc.constantFrom('lower' as const, 'midpoint' as const),
        fc.integer({ min: 1, max: 40 }),
        (hundreds, median, reach) => {
          const scores = hundreds.map((hundred) => fromDecimal(hundred / 20))
          const by = rule(reach / 10, median)
          const found = consensusOf(scores, by)
          expect(consensusOf(scores.toReversed(), by).score).toEqual(found.score)
          const kept = scores.filter((_, index) => !found.setAside[index])
          expect(kept.length).toBeGreaterThan(0)
          expect(kept.some((score) => compare(score, found.score) <= 0)).toBe(true)
          expect(kept.some((score) => compare(score, found.score) >= 0)).toBe(true)
        },
      ),
    )
  })

  it('a further score no higher than any other never raises it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom('lower' as const, 'midpoint' as const),
        fc.integer({ min: 1, max: 12 }),
        (quarters, low, median, reach) => {
          const scores = quarters.map((quarter) => fromDecimal(quarter / 4))
          const lowest = fromDecimal(Math.min(low, ...quarters) / 4)
          const by = rule(reach / 4, median)
          expect(compare(consensusOf([...scores, lowest], by).score, consensusOf(scores, by).score)).toBeLessThanOrEqual(0)
        },
      ),
    )
  })
})
