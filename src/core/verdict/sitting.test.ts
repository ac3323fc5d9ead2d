import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Sitting } from '../../contract/review.ts'
import type { EvidenceResolution, Verdict } from '../../contract/verdict.ts'
import { acceptingVerdict, rejectingVerdict, sampleExpectations } from '../../testing/sample-verdict.ts'
import { evidencePointers, type Seat, sittingOf } from './sitting.ts'

const expected = sampleExpectations()
const accept = acceptingVerdict(expected)
const reject = rejectingVerdict(expected)

function seatWith(resolved: readonly string[], changes: Partial<Seat> = {}): Seat {
  const resolutions = resolved.map((pointer): EvidenceResolution => ({ pointer, resolved: true, why: 'found' }))
  return {
    seat: 2,
    judge: 'qa',
    principal: 'sha256:aa',
    criteria: expected.criteria,
    dimensions: expected.dimensions,
    bar: 60,
    resolutions,
    ...changes,
  }
}

function sit(verdict: Verdict, resolved: readonly string[] = evidencePointers(verdict), changes: Partial<Seat> = {}): Sitting {
  return Sitting.parse(sittingOf({ kind: 'verdict', verdict }, seatWith(resolved, changes)))
}

function scored(verdict: Verdict, ...scores: number[]): Verdict {
  return { ...verdict, dimensions: verdict.dimensions.map((answer, index) => ({ ...answer, score: scores[index] ?? answer.score })) }
}

function answering(verdict: Verdict, met: Record<string, Verdict['criteria'][number]['met']>): Verdict {
  return { ...verdict, criteria: verdict.criteria.map((answer) => ({ ...answer, met: met[answer.id] ?? answer.met })) }
}

describe('evidence pointers', () => {
  it('are every pointer once, in the order of the verdict', () => {
    const verdict: Verdict = {
      ...accept,
      prior: [{ ref: 'P1', addressed: 'yes', evidence: ['p', 'a'] }],
      criteria: [
        { id: 'AC1', evidence: ['b', 'a'], reasoning: '', met: 'yes' },
        { id: 'AC2', evidence: ['c'], reasoning: '', met: 'yes' },
      ],
      evidence: ['c', 'd', 'p'],
    }
    expect(evidencePointers(verdict)).toEqual(['p', 'a', 'b', 'c', 'd'])
  })
})

describe('the sitting of a structured verdict', () => {
  it('carries who sat, the verdict and its exact score', () => {
    const verdict = scored(accept, 4, 3)
    expect(sit(verdict, ['core.txt:1', 'core.txt:AC1', 'core.txt:AC2', 'core.txt:AC3'])).toEqual({
      seat: 2,
      judge: 'qa',
      principal: 'sha256:aa',
      outcome: 'graded',
      verdict,
      score: { exact: '18/5', on5: 3.6, on100: 72 },
      accepts: true,
      contradictsScores: false,
      resolutions: [
        { pointer: 'core.txt:1', resolved: true, why: 'found' },
        { pointer: 'core.txt:AC1', resolved: true, why: 'found' },
        { pointer: 'core.txt:AC2', resolved: true, why: 'found' },
        { pointer: 'core.txt:AC3', resolved: true, why: 'found' },
        { pointer: 'check:tests', resolved: false, why: 'not looked up' },
      ],
      leansOnUnresolved: false,
    })
  })

  it('carries what the call cost, where that is known', () => {
    expect(sit(accept, [], { usage: { inputTokens: 5, costUsd: 0.01 } }).usage).toEqual({ inputTokens: 5, costUsd: 0.01 })
    expect('usage' in sittingOf({ kind: 'verdict', verdict: accept }, seatWith([]))).toBe(false)
  })

  it.each([
    ['accept above the bar', accept, [4, 4], true, false],
    ['accept at the bar', accept, [3, 3], true, false],
    ['accept just below the bar', accept, [3, 2], true, true],
    ['reject below the bar', reject, [2, 2], false, false],
    ['reject at the bar', reject, [3, 3], false, true],
    ['reject above the bar', reject, [5, 5], false, true],
  ] as const)('%s', (_, verdict, scores, accepts, contradictsScores) => {
    expect(sit(scored(verdict, ...scores))).toMatchObject({ outcome: 'graded', accepts, contradictsScores })
  })

  it('measures against the bar it is given', () => {
    expect(sit(scored(accept, 4, 4), [], { bar: 4 }).contradictsScores).toBe(false)
    expect(sit(scored(accept, 4, 4), [], { bar: 81 }).contradictsScores).toBe(true)
  })

  it.each([
    ['accept, a hard criterion untold', answering(accept, { AC1: 'cannot_tell' }), 'abstained'],
    ['accept, all untold', answering(accept, { AC1: 'cannot_tell', AC2: 'cannot_tell', AC3: 'cannot_tell' }), 'abstained'],
    ['accept, a hard one untold and a soft one unmet', answering(accept, { AC2: 'cannot_tell', AC3: 'no' }), 'abstained'],
    ['accept, only a soft criterion untold', answering(accept, { AC3: 'cannot_tell' }), 'graded'],
    ['reject, a hard criterion untold', answering(reject, { AC1: 'cannot_tell' }), 'abstained'],
    ['reject, one hard untold and one unmet', answering(reject, { AC1: 'no', AC2: 'cannot_tell' }), 'graded'],
    ['reject, nothing untold', reject, 'graded'],
  ] as const)('%s', (_, verdict, outcome) => {
    const sitting = sit(verdict, [])
    expect(sitting.outcome).toBe(outcome)
    if (outcome === 'abstained') {
      expect(sitting).toMatchObject({ verdict, accepts: false, contradictsScores: false, leansOnUnresolved: false })
      expect('score' in sitting).toBe(false)
      expect(sitting.resolutions).toHaveLength(evidencePointers(verdict).length)
    }
  })

  it('keeps the resolutions of its own pointers only, and the worse of two', () => {
    const verdict = { ...accept, prior: [], criteria: [], evidence: ['a', 'b', 'c'] }
    const resolutions = [
      { pointer: 'a', resolved: true, why: 'found' },
      { pointer: 'a', resolved: false, why: 'gone' },
      { pointer: 'b', resolved: false, why: 'no such line' },
      { pointer: 'b', resolved: true, why: 'found' },
      { pointer: 'x', resolved: true, why: 'found' },
    ]
    expect(sit(verdict, [], { resolutions, criteria: [] }).resolutions).toEqual([
      { pointer: 'a', resolved: false, why: 'gone' },
      { pointer: 'b', resolved: false, why: 'no such line' },
      { pointer: 'c', resolved: false, why: 'not looked up' },
    ])
  })
})

describe('leaning on evidence that was not found', () => {
  const evidenceOf = (verdict: Verdict, evidence: Record<string, string[]>): Verdict => ({
    ...verdict,
    prior: verdict.prior.map((answer) => ({ ...answer, evidence: evidence.P1 ?? [] })),
    criteria: verdict.criteria.map((answer) => ({ ...answer, evidence: evidence[answer.id] ?? [] })),
    evidence: evidence.top ?? [],
  })
  const bare = (verdict: Verdict) => evidenceOf(verdict, {})
  const softReject = answering(reject, { AC1: 'yes', AC3: 'no' })
  const plainReject = answering(reject, { AC1: 'yes' })
  const open = (verdict: Verdict, addressed: 'yes' | 'no' | 'partly'): Verdict => ({
    ...verdict,
    prior: verdict.prior.map((answer) => ({ ...answer, addressed })),
  })

  it.each([
    ['accept citing nothing', bare(accept), [], false],
    ['accept citing what is there', evidenceOf(accept, { AC1: ['a', 'b'] }), ['b'], false],
    ['accept citing what is not there', evidenceOf(accept, { AC1: ['a', 'b'] }), [], true],
    ['accept, one of two criteria without support', evidenceOf(accept, { AC1: ['a'], AC2: ['b'] }), ['a'], true],
    ['accept, a soft criterion without support', evidenceOf(accept, { AC3: ['a'] }), [], true],
    ['accept, a soft criterion answered no without support', answering(evidenceOf(accept, { AC3: ['a'] }), { AC3: 'no' }), [], false],
    ['accept, only the evidence for the whole not there', evidenceOf(accept, { top: ['a'] }), [], false],
    ['reject citing nothing', bare(reject), [], true],
    ['reject, the unmet criterion supported', evidenceOf(reject, { AC1: ['a', 'b'] }), ['a'], false],
    ['reject, the unmet criterion not supported', evidenceOf(reject, { AC1: ['a'], top: ['b'] }), ['b'], true],
    ['reject, the unmet criterion citing nothing, the whole supported', evidenceOf(reject, { top: ['b'] }), ['b'], false],
    ['reject, the unmet criterion citing nothing, the whole not supported', evidenceOf(reject, { top: ['b'], AC2: ['c'] }), ['c'], true],
    [
      'reject, one of two unmet criteria not supported',
      answering(evidenceOf(reject, { AC1: ['a'], AC2: ['b'] }), { AC2: 'no' }),
      ['a'],
      true,
    ],
    ['reject without an unmet criterion, supported', evidenceOf(plainReject, { top: ['a'] }), ['a'], false],
    ['reject without an unmet criterion, not supported', evidenceOf(plainReject, { top: ['a'], AC1: ['b'] }), ['b'], true],
    ['reject over a soft criterion, supported by it', evidenceOf(softReject, { AC3: ['a'], top: ['b'] }), ['a'], false],
    ['reject over a soft criterion, not supported', evidenceOf(softReject, { AC3: ['a'], top: ['b'] }), [], true],
    ['reject over an open prior point, supported by it', open(evidenceOf(plainReject, { P1: ['a'] }), 'no'), ['a'], false],
    ['reject over a half-open prior point, supported by it', open(evidenceOf(plainReject, { P1: ['a'] }), 'partly'), ['a'], false],
    ['reject, a settled prior point is no ground', open(evidenceOf(plainReject, { P1: ['a'] }), 'yes'), ['a'], true],
  ] as const)('%s', (_, verdict, resolved, leans) => {
    expect(sit(verdict, resolved).leansOnUnresolved).toBe(leans)
  })
})

describe("the sitting of a text judge's score", () => {
  const sitText = (score100: string, changes: Partial<Seat> = {}) =>
    Sitting.parse(sittingOf({ kind: 'text', text: { score100, feedback: 'Fine.' } }, seatWith(['a'], changes)))

  it('counts n/20 for every dimension and accepts at the bar', () => {
    expect(sitText('60')).toEqual({
      seat: 2,
      judge: 'qa',
      principal: 'sha256:aa',
      outcome: 'graded',
      text: { score100: '60', feedback: 'Fine.' },
      score: { exact: '3/1', on5: 3, on100: 60 },
      accepts: true,
      contradictsScores: false,
      resolutions: [],
      leansOnUnresolved: false,
    })
    expect(sitText('59.99')).toMatchObject({ accepts: false, contradictsScores: false, score: { exact: '5999/2000', on100: 59.99 } })
    expect(sitText('0').score).toEqual({ exact: '0/1', on5: 0, on100: 0 })
    expect(sitText('100.00').score).toEqual({ exact: '5/1', on5: 5, on100: 100 })
    expect(sitText('60', { usage: { durationMs: 3 } }).usage).toEqual({ durationMs: 3 })
  })

  it('accepts iff at or above the bar, with any weights', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 600, max: 10_000 }),
        fc.array(fc.integer({ min: 1, max: 999 }), { minLength: 1, maxLength: 6 }),
        (hundredths, bar, weights) => {
          const dimensions = weights.map((weight, index) => ({ name: `d${index}`, weight: weight / 1000, description: 'd' }))
          expect(sitText((hundredths / 100).toString(), { bar: bar / 100, dimensions }).accepts).toBe(hundredths >= bar)
        },
      ),
      { numRuns: 500 },
    )
  })
})
