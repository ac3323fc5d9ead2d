import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ConsensusRule, consensusOf } from './consensus.ts'
import { compare, fromDecimal, type Rational } from './exact.ts'
import { highestConsensus, lowestConsensus } from './extremes.ts'

const median = fc.constantFrom('lower' as const, 'midpoint' as const)
const levels = [1, 2, 3, 4, 5]
const quarters = Array.from({ length: 21 }, (_, index) => index / 4)

/** Every way to fill the open places, whatever the order. */
function* fillings(count: number, values: readonly number[], from = 0): Generator<number[]> {
  if (count === 0) yield []
  else
    for (let index = from; index < values.length; index += 1)
      for (const rest of fillings(count - 1, values, index)) yield [values[index]!, ...rest]
}

function exhaustive(
  known: readonly number[],
  count: number,
  values: readonly number[],
  rule: ConsensusRule,
): { lowest: Rational; highest: Rational } {
  const found = [...fillings(count, values)]
    .map(
      (open) =>
        consensusOf(
          [...known, ...open].map((value) => fromDecimal(value)),
          rule,
        ).score,
    )
    .sort(compare)
  return { lowest: found[0]!, highest: found.at(-1)! }
}

describe('the extremes of a consensus', () => {
  it('are found where neither end of the scale gives them', () => {
    const rule: ConsensusRule = { outlierDistance: fromDecimal(1.5), median: 'lower' }
    const known = [1, 4, 5, 5].map((level) => fromDecimal(level))
    const at = (level: number) => consensusOf([...known, fromDecimal(level)], rule).score
    expect([1, 2, 3, 4, 5].map((level) => Number(at(level).n))).toEqual([5, 5, 4, 4, 5])
    expect(lowestConsensus(known, { count: 1, whole: true }, rule)).toEqual(fromDecimal(4))
    expect(highestConsensus(known, { count: 1, whole: true }, rule)).toEqual(fromDecimal(5))
  })

  it('of nothing open are the consensus itself', () => {
    const rule: ConsensusRule = { outlierDistance: fromDecimal(1.5), median: 'midpoint' }
    const known = [fromDecimal(3.25), fromDecimal(4)]
    for (const whole of [true, false]) {
      expect(lowestConsensus(known, { count: 0, whole }, rule)).toEqual(fromDecimal(3.625))
      expect(highestConsensus(known, { count: 0, whole }, rule)).toEqual(fromDecimal(3.625))
    }
  })

  it('of nothing known are the ends of the scale', () => {
    const rule: ConsensusRule = { outlierDistance: fromDecimal(1.5), median: 'lower' }
    expect(lowestConsensus([], { count: 2, whole: true }, rule)).toEqual(fromDecimal(1))
    expect(lowestConsensus([], { count: 2, whole: false }, rule)).toEqual(fromDecimal(0))
    expect(highestConsensus([], { count: 2, whole: true }, rule)).toEqual(fromDecimal(5))
    expect(highestConsensus([], { count: 2, whole: false }, rule)).toEqual(fromDecimal(5))
  })

  it('of few whole levels are those of trying everything, for all of them', () => {
    for (const reach of [1, 1.5, 2.5]) {
      for (const kind of ['lower', 'midpoint'] as const) {
        const rule = { outlierDistance: fromDecimal(reach), median: kind }
        for (const size of [0, 1, 2, 3, 4]) {
          for (const known of fillings(size, levels)) {
            for (const count of [1, 2, 3]) {
              const scores = known.map((level) => fromDecimal(level))
              const found = {
                lowest: lowestConsensus(scores, { count, whole: true }, rule),
                highest: highestConsensus(scores, { count, whole: true }, rule),
              }
              expect(found, `${known} and ${count} more within ${reach}, ${kind}`).toEqual(exhaustive(known, count, levels, rule))
            }
          }
        }
      }
    }
  })

  it('of whole levels are those of trying everything', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...levels), { maxLength: 7 }),
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(0.5, 1, 1.5, 2, 2.5, 3, 4),
        median,
        (known, count, reach, kind) => {
          const rule = { outlierDistance: fromDecimal(reach), median: kind }
          const scores = known.map((level) => fromDecimal(level))
          const truth = exhaustive(known, count, levels, rule)
          expect(highestConsensus(scores, { count, whole: true }, rule)).toEqual(truth.highest)
          expect(lowestConsensus(scores, { count, whole: true }, rule)).toEqual(truth.lowest)
        },
      ),
      { numRuns: 400 },
    )
  })

  it('of text scores are those of trying everything on a grid that holds all their turning points', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...quarters), { maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(0.25, 0.5, 1, 1.25, 1.5, 2),
        median,
        (known, count, reach, kind) => {
          const rule = { outlierDistance: fromDecimal(reach), median: kind }
          const scores = known.map((level) => fromDecimal(level))
          const truth = exhaustive(known, count, quarters, rule)
          expect(highestConsensus(scores, { count, whole: false }, rule)).toEqual(truth.highest)
          expect(lowestConsensus(scores, { count, whole: false }, rule)).toEqual(truth.lowest)
        },
      ),
      { numRuns: 150 },
    )
  })
})
