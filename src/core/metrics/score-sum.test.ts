import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compare, rational } from '../score/exact.ts'
import { exactOf, scoreOf } from '../score/score.ts'
import { type CallSum, CallTotal, noCalls, withCall } from './call-sum.ts'
import { recentLimit, RecentTotal, withRecent } from './recent.ts'
import { noScores, ownOf, type ScoreSum, ScoreTotal, withNamed, withScore } from './score-sum.ts'

const arbitraryScore = fc
  .record({ n: fc.integer({ min: 1, max: 500 }), d: fc.integer({ min: 1, max: 100 }) })
  .map(({ n, d }) => scoreOf(rational(n, d)))

const sumOf = (exacts: readonly string[]): ScoreSum => exacts.reduce(withScore, noScores)

function totalOf(...sums: ScoreSum[]): ScoreTotal {
  const total = new ScoreTotal()
  for (const sum of sums) total.add(sum)
  return total
}

describe('sums of scores', () => {
  it('of nothing have no average: unscored is not zero', () => {
    const total = totalOf(noScores, noScores)
    expect([total.count, total.average, total.min, total.max]).toEqual([0, undefined, undefined, undefined])
  })

  it('average exactly: three thirds are one, not nearly one', () => {
    const sum = sumOf(['10/3', '10/3', '10/3'])
    expect(sum).toMatchObject({ count: 3, sum: '10/1' })
    expect(totalOf(sum).average).toEqual(scoreOf(rational(10, 3)))
  })

  it('know the lowest and the highest, by their exact values', () => {
    for (const exacts of [
      ['2999/1000', '2999/999', '3/1'],
      ['2999/999', '3/1', '2999/1000'],
    ]) {
      expect(sumOf(exacts)).toMatchObject({ min: '2999/1000', max: '2999/999' })
      const total = totalOf(...exacts.map((exact) => sumOf([exact])))
      expect([total.min?.exact, total.max?.exact]).toEqual(['2999/1000', '2999/999'])
    }
  })

  it('are the same in whatever order and grouping the scores come', () => {
    fc.assert(
      fc.property(fc.array(arbitraryScore, { minLength: 1, maxLength: 12 }), fc.nat(), (scores, cut) => {
        const exacts = scores.map(({ exact }) => exact)
        const at = cut % (exacts.length + 1)
        const whole = totalOf(sumOf(exacts))
        const parts = totalOf(sumOf(exacts.slice(at)), sumOf(exacts.slice(0, at)))
        expect([parts.count, parts.average, parts.min, parts.max]).toEqual([whole.count, whole.average, whole.min, whole.max])
        for (const score of scores) {
          expect(compare(exactOf(score), exactOf(whole.min ?? score))).toBeGreaterThanOrEqual(0)
          expect(compare(exactOf(score), exactOf(whole.max ?? score))).toBeLessThanOrEqual(0)
        }
      }),
    )
  })

  it('by name go by name, whatever the names are', () => {
    for (const name of ['correctness', 'constructor', '__proto__', 'toString']) {
      expect(ownOf({}, name)).toBeUndefined()
      const sums = withNamed(withNamed({}, name, '4/1'), name, '7/2')
      expect(Object.keys(sums)).toEqual([name])
      expect(ownOf(sums, name)).toEqual({ count: 2, sum: '15/2' })
      expect(ownOf(JSON.parse(JSON.stringify(sums)), name)).toEqual({ count: 2, sum: '15/2' })
    }
  })
})

describe('sums of calls', () => {
  const spent = (...sums: CallSum[]) => {
    const total = new CallTotal()
    for (const sum of sums) total.add(sum)
    return total.spending
  }

  it('add tokens, count calls without a price, and add money exactly', () => {
    const tenths = [0.1, 0.2, 0.7].reduce((sum, costUsd) => withCall(sum, { costUsd, inputTokens: 2, outputTokens: 1 }), noCalls)
    const sum = withCall(withCall(tenths, { inputTokens: 5 }))
    expect(sum).toEqual({ calls: 5, unpriced: 2, inputTokens: 11, outputTokens: 3, cost: '1/1' })
    expect(spent(sum, sum)).toEqual({ calls: 10, unpriced: 4, inputTokens: 22, outputTokens: 6, costUsd: 2 })
  })

  it('read prices however small', () => {
    expect(spent(withCall(noCalls, { costUsd: 1e-7 })).costUsd).toBe(1e-7)
    expect(spent(withCall(noCalls, { costUsd: 12.5 }), withCall(noCalls, { costUsd: 0.25 })).costUsd).toBe(12.75)
    expect(spent().costUsd).toBe(0)
  })
})

describe('the latest scores', () => {
  it('are kept in the order of the journal, up to a limit', () => {
    const score = (n: number) => scoreOf(rational(n))
    let [odd, even] = [withRecent([], 1, score(1)), withRecent([], 2, score(2))]
    for (let position = 3; position <= 60; position += 2) {
      odd = withRecent(odd, position, score(1))
      even = withRecent(even, position + 1, score(2))
    }
    expect(odd).toHaveLength(recentLimit)
    const total = new RecentTotal()
    total.add(even)
    total.add(odd)
    expect(total.latest).toEqual(Array.from({ length: recentLimit }, (_, index) => (index % 2 === 0 ? 1 : 2)))
    for (let more = 0; more < 2000; more += 1) total.add([{ position: 100 + more, on5: more }])
    expect(total.latest).toEqual(Array.from({ length: recentLimit }, (_, index) => 1980 + index))
  })
})
