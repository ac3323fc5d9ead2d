import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultDimensions } from '../../contract/config/review.ts'
import { type Bar, type Dimension, Score } from '../../contract/score.ts'
import { compare, fromDecimal, mul, type Rational, rational } from './exact.ts'
import {
  barOf,
  checkWeights,
  describeBar,
  describeScore,
  exactOf,
  globalScore,
  lowerMedian,
  midpointMedian,
  reaches,
  scoreOf,
} from './score.ts'

const weighted = (...weights: number[]): Dimension[] => weights.map((weight, index) => ({ name: `d${index}`, weight, description: 'x' }))
const all = (score: Rational, dimensions: readonly Dimension[]) => new Map(dimensions.map(({ name }) => [name, score]))
const weight = fc.oneof(
  fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
  fc.integer({ min: 1, max: 99 }).map((n) => n / 100),
)

describe('scoreOf', () => {
  it.each<[Rational, Score]>([
    [rational(7, 2), { exact: '7/2', on5: 3.5, on100: 70 }],
    [rational(3), { exact: '3/1', on5: 3, on100: 60 }],
    [rational(2999, 1000), { exact: '2999/1000', on5: 2.99, on100: 59.98 }],
    [rational(299999, 100000), { exact: '299999/100000', on5: 2.99, on100: 59.99 }],
    [rational(10, 3), { exact: '10/3', on5: 3.33, on100: 66.66 }],
    [rational(0), { exact: '0/1', on5: 0, on100: 0 }],
  ])('%o', (r, score) => {
    expect(scoreOf(r)).toEqual(score)
    expect(Score.parse(scoreOf(r))).toEqual(score)
    expect(exactOf(score)).toEqual(r)
  })

  it('knows no negative score', () => {
    expect(() => scoreOf(rational(-1, 2))).toThrow('-1/2 is negative')
  })

  it('never shows more than there is, and less by under a hundredth', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 5000n }), fc.bigInt({ min: 1n, max: 997n }), (n, d) => {
        const r = rational(n, d)
        const { on5, on100 } = scoreOf(r)
        for (const [shown, real] of [
          [on5, r],
          [on100, mul(r, rational(20))],
        ] as const) {
          expect(compare(fromDecimal(shown), real)).toBeLessThanOrEqual(0)
          expect(compare(fromDecimal((Math.round(shown * 100) + 1) / 100), real)).toBe(1)
        }
      }),
    )
  })

  it('a score below a bar of two decimals never reads as the bar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 500 }), fc.bigInt({ min: 1n, max: 10n ** 15n }), (hundredths, tiny) => {
        const bar = hundredths / 100
        const below = rational(BigInt(hundredths) * 10n ** 15n - tiny, 10n ** 17n)
        expect(reaches(below, bar)).toBe(false)
        expect(scoreOf(below).on5).toBeLessThan(bar)
      }),
    )
  })
})

describe('bars', () => {
  it.each<[Bar, string]>([
    [3, '3/1'],
    [60, '3/1'],
    [3.5, '7/2'],
    [72.5, '29/8'],
    [5, '5/1'],
    [5.01, '501/2000'],
    [100, '5/1'],
    [0, '0/1'],
    [1, '1/1'],
  ])('%s is %s on 1–5', (bar, expected) => {
    const { n, d } = barOf(bar)
    expect(`${n}/${d}`).toBe(expected)
  })

  it('3.0 and 60 are one bar for every score', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 5000n }), fc.bigInt({ min: 1n, max: 1000n }), (n, d) => {
        expect(reaches(rational(n, d), 3.0)).toBe(reaches(rational(n, d), 60))
      }),
    )
  })

  it('is reached at the bar and missed just below it', () => {
    expect(reaches(rational(3), 60)).toBe(true)
    expect(reaches(rational(3), 3)).toBe(true)
    expect(reaches(rational(30000001, 10000000), 3)).toBe(true)
    expect(reaches(rational(29999999, 10000000), 60)).toBe(false)
  })

  it.each<[Bar, string]>([
    [3, '3.0 (60/100)'],
    [60, '3.0 (60/100)'],
    [3.5, '3.5 (70/100)'],
    [72.5, '3.625 (72.5/100)'],
    [0, '0.0 (0/100)'],
    [2.999, '2.999 (59.98/100)'],
  ])('%s is shown as %s', (bar, text) => {
    expect(describeBar(bar)).toBe(text)
  })
})

describe('globalScore', () => {
  it('weighs exactly', () => {
    const scores = new Map(['correctness', 'completeness', 'code_quality', 'edge_cases'].map((name, index) => [name, rational(index + 2)]))
    expect(globalScore(scores, defaultDimensions)).toEqual(fromDecimal('3.15'))
    expect(globalScore(all(rational(4), weighted(1, 2)).set('d1', rational(1)), weighted(1, 2))).toEqual(rational(2))
  })

  it('threes are a three where floating point falls short of it', () => {
    const dimensions = weighted(0.1, 0.6, 0.3)
    expect((0.1 * 3 + 0.6 * 3 + 0.3 * 3) / (0.1 + 0.6 + 0.3)).toBeLessThan(3)
    expect(globalScore(all(rational(3), dimensions), dimensions)).toEqual(rational(3))
  })

  it('unanimous threes reach 3.0 and 60 with any weights', () => {
    fc.assert(
      fc.property(fc.array(weight, { minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 5 }), (weights, level) => {
        const dimensions = weighted(...weights)
        const score = globalScore(all(rational(level), dimensions), dimensions)
        expect(score).toEqual(rational(level))
        expect(reaches(score, 3.0)).toBe(level >= 3)
        expect(reaches(score, 60)).toBe(level >= 3)
      }),
      { numRuns: 3000 },
    )
  })

  it('does not change when every weight is scaled', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 5 })), { minLength: 1 }), (entries) => {
        const dimensions = weighted(...entries.map(([w]) => w))
        const scores = new Map(entries.map(([, score], index) => [`d${index}`, rational(score)]))
        expect(globalScore(scores, weighted(...entries.map(([w]) => w / 1000)))).toEqual(globalScore(scores, dimensions))
      }),
    )
  })

  it('throws where a dimension has no score', () => {
    expect(() => globalScore(new Map(), weighted(1))).toThrow('dimension "d0" has no score')
  })
})

describe('describeScore', () => {
  it.each<[Rational, string]>([
    [rational(3), '3.0 (60/100)'],
    [rational(7, 2), '3.5 (70/100)'],
    [rational(299999, 100000), '2.99 (59.99/100)'],
  ])('%o reads %s', (r, text) => {
    expect(describeScore(scoreOf(r))).toBe(text)
  })
})

describe('checkWeights', () => {
  it('says nothing where they sum to 1 exactly', () => {
    for (const mode of ['normalise', 'strict'] as const) {
      expect(checkWeights(defaultDimensions, mode)).toEqual({ ok: true })
      expect(checkWeights(weighted(0.1, 0.2, 0.7), mode)).toEqual({ ok: true })
    }
  })

  it('normalises with a notice, or refuses, with the exact sum', () => {
    expect(checkWeights(weighted(0.5, 0.55), 'normalise')).toEqual({
      ok: true,
      notice: 'the weights of the dimensions sum to 1.05, not 1: each counts by its share of the sum',
    })
    expect(checkWeights(weighted(0.3, 0.65), 'strict')).toEqual({
      ok: false,
      message: 'the weights of the dimensions sum to 0.95, not 1: correct them, or set review.weightSum to normalise',
    })
    expect(checkWeights(weighted(1, 2), 'strict')).toMatchObject({ ok: false, message: expect.stringContaining('sum to 3,') })
  })
})

describe('medians', () => {
  const of = (...values: number[]) => values.map((value) => fromDecimal(value))
  it.each<[number[], number, number]>([
    [[4], 4, 4],
    [[5, 2], 2, 3.5],
    [[5, 1, 3], 3, 3],
    [[4, 2, 3, 5], 3, 3.5],
    [[1, 1, 5, 5], 1, 3],
    [[10, 9, 2], 9, 9],
  ])('of %o: lower %s, midpoint %s', (values, lower, midpoint) => {
    expect(lowerMedian(of(...values))).toEqual(fromDecimal(lower))
    expect(midpointMedian(of(...values))).toEqual(fromDecimal(midpoint))
  })

  it('leaves the values in their order, and knows none of nothing', () => {
    const values = of(3, 1, 2)
    lowerMedian(values)
    expect(values).toEqual(of(3, 1, 2))
    expect(() => lowerMedian([])).toThrow('the median of no values')
    expect(() => midpointMedian([])).toThrow(RangeError)
  })
})
