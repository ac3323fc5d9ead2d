import { describe, expect, it } from 'vitest'
import { fromDecimal } from '../score/exact.ts'
import { carries, mergePrincipals, ruleOf, scoresOf, tally } from './consensus.ts'
import { dimension, grades, panelOf, play, type Reply, rulesOf, scripted, sittingFrom } from '../../testing/panel/panel-kit.ts'

const two = [dimension('craft', 1), dimension('care', 3)]
const rules = rulesOf({ mode: 'full' }, { dimensions: two })
const sit = (judge: string, reply: Reply, principal = `p-${judge}`, seat = 1) => sittingFrom({ seat, judge, principal }, reply, rules)
const numbers = (scores: ReadonlyMap<string, { n: bigint; d: bigint }>) =>
  Object.fromEntries([...scores].map(([name, { n, d }]) => [name, Number(n) / Number(d)]))

describe('scoresOf', () => {
  it('reads a verdict by dimension', () => {
    expect(numbers(scoresOf(sit('a', grades([5, 2])), two))).toEqual({ craft: 5, care: 2 })
  })

  it('counts a text judge’s number for every dimension, a twentieth of it', () => {
    expect(numbers(scoresOf(sit('a', { kind: 'text', score100: '72.50' }), two))).toEqual({ craft: 3.625, care: 3.625 })
    expect(numbers(scoresOf(sit('a', { kind: 'text', score100: '0' }), two))).toEqual({ craft: 0, care: 0 })
  })

  it('throws on a verdict that misses a dimension', () => {
    expect(() => scoresOf(sit('a', grades(3)), [dimension('grace')])).toThrow('the graded verdict of a has no score for "grace"')
  })
})

describe('mergePrincipals', () => {
  it('leaves single sittings as they are', () => {
    const votes = mergePrincipals([sit('a', grades([4, 3])), sit('b', grades(1))], two)
    expect(votes.map(({ principal, judge, accepts, scores }) => [principal, judge, accepts, numbers(scores)])).toEqual([
      ['p-a', 'a', true, { craft: 4, care: 3 }],
      ['p-b', 'b', false, { craft: 1, care: 1 }],
    ])
  })

  it('takes the lower median of one principal’s sittings, and its accept only if all accept', () => {
    const sittings = [sit('a', grades([5, 1], true), 'p'), sit('b', grades(4)), sit('a2', grades([2, 4], true), 'p')]
    const [vote] = mergePrincipals(sittings, two)
    expect(vote).toMatchObject({ principal: 'p', judge: 'a', accepts: true })
    expect(numbers(vote!.scores)).toEqual({ craft: 2, care: 1 })
    expect(mergePrincipals([...sittings, sit('a', grades([5, 5], false), 'p')], two)[0]).toMatchObject({ accepts: false })
    expect(numbers(mergePrincipals([...sittings, sit('a', grades([5, 5], false), 'p')], two)[0]!.scores)).toEqual({ craft: 5, care: 4 })
  })

  it('is nothing for nobody', () => {
    expect(mergePrincipals([], two)).toEqual([])
  })
})

describe('tally', () => {
  const of = (replies: Record<string, Reply | Reply[]>, roster: string[], settings = {}) => {
    const own = rulesOf({ mode: 'full', size: roster.length, ...settings }, { dimensions: two })
    return tally(play(panelOf(roster, own), own, scripted(replies)).panel, own)
  }

  it('takes the median of each dimension, then weighs', () => {
    const { dimensions, score, accepts, rejects } = of({ a: grades([5, 3]), b: grades([4, 2]), c: grades([3, 4]) }, ['a', 'b', 'c'])
    expect(dimensions.map((one) => [one.name, Number(one.score.n)])).toEqual([
      ['craft', 4],
      ['care', 3],
    ])
    expect(score).toEqual(fromDecimal(3.25))
    expect([accepts, rejects]).toEqual([2, 1])
  })

  it('counts principals, not sittings', () => {
    const { accepts, rejects, votes } = of({ a: [grades(1), grades(1), grades(1)] }, ['a', 'b', 'a2@p-a'], { size: 5 })
    expect(votes).toHaveLength(2)
    expect([accepts, rejects]).toEqual([1, 1])
  })

  it('sets outliers aside, dimension by dimension', () => {
    const { dimensions } = of({ a: grades([1, 4]), b: grades([4, 4]), c: grades([4, 1]) }, ['a', 'b', 'c'])
    expect(dimensions.map(({ setAside }) => setAside)).toEqual([
      [true, false, false],
      [false, false, true],
    ])
  })

  it('takes the median that the settings name', () => {
    expect(of({ a: grades(3), b: grades(4) }, ['a', 'b']).score).toEqual(fromDecimal(3))
    expect(of({ a: grades(3), b: grades(4) }, ['a', 'b'], { median: 'midpoint' }).score).toEqual(fromDecimal(3.5))
    expect(ruleOf(rulesOf({ outlierDistance: 0.1 }).settings)).toEqual({ outlierDistance: fromDecimal(0.1), median: 'lower' })
  })
})

describe('carries', () => {
  it.each<[number, number, number, boolean]>([
    [3, 2, 1, true],
    [3, 1, 1, false],
    [3, 1, 2, false],
    [2.99, 3, 0, false],
    [5, 0, 1, false],
    [3, 1, 0, true],
  ])('a score of %s with %s against %s: %s', (score, accepts, rejects, expected) => {
    expect(carries({ score: fromDecimal(score), accepts, rejects }, { bar: 60 })).toBe(expected)
  })
})
