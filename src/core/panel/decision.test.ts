import { describe, expect, it } from 'vitest'
import { Decision, type Veto } from '../../contract/review.ts'
import { Category } from '../../contract/verdict.ts'
import { dimension, grades, panelOf, play, type Reply, rulesOf, scripted, vetoBy } from '../../testing/panel/panel-kit.ts'
import type { PanelRules } from './state.ts'

interface Setting {
  rules?: PanelRules
  roster?: string[]
}

function decide(replies: Record<string, Reply | Reply[]>, { rules = rulesOf({ mode: 'full' }), roster = ['a', 'b', 'c'] }: Setting = {}) {
  const { end } = play(panelOf(roster, rules), rules, scripted(replies))
  if (end.kind !== 'decide') throw new Error(`ended ${end.kind}`)
  expect(Decision.parse(end.decision)).toEqual(end.decision)
  return end.decision
}
const reject = (
  category: Category,
  more: { concern?: string; leansOnUnresolved?: boolean; evidence?: string[]; nextStep?: string } = {},
): Reply => grades(2, false, { words: { category, ...more } })

describe('a pass', () => {
  it('is recorded with everything that it rests on', () => {
    expect(decide({ a: grades(4), b: grades(5), c: grades(3) })).toEqual({
      outcome: 'pass',
      graded: true,
      parse_failed: false,
      score: { exact: '4/1', on5: 4, on100: 80 },
      bar: 3,
      dimensions: [
        {
          name: 'craft',
          score: { exact: '4/1', on5: 4, on100: 80 },
          setAside: [],
          reasoning: ['a', 'b', 'c'].map((judge) => ({ judge, text: `${judge} on craft` })),
        },
      ],
      accepts: 3,
      rejects: 0,
      quorum: 2,
      degraded: false,
      category: null,
      concern: 'concern of a',
      points: [],
      pointers: [],
      vetoes: [],
      dissent: [],
      missing: [],
    })
  })

  it('carries the concern of whoever dissents, but neither its category nor its points', () => {
    const decision = decide({ b: reject('weak_test', { evidence: ['t.ts:1'] }) })
    expect(decision).toMatchObject({
      outcome: 'pass',
      category: null,
      concern: 'concern of b',
      points: [],
      pointers: [],
      accepts: 2,
      rejects: 1,
    })
    expect(decision.dissent).toEqual([{ judge: 'b', accepts: false, concern: 'concern of b' }])
  })

  it('keeps every judge’s reasoning with its dimension', () => {
    const rules = rulesOf({ mode: 'full', size: 2 }, { dimensions: [dimension('craft'), dimension('care')] })
    expect(
      decide({}, { rules, roster: ['a', 'b'] }).dimensions.map(({ name, reasoning }) => [name, ...reasoning.map(({ text }) => text)]),
    ).toEqual([
      ['craft', 'a on craft', 'b on craft'],
      ['care', 'a on care', 'b on care'],
    ])
  })

  it('keeps what was set aside', () => {
    expect(decide({ c: grades(1, false) }).dimensions[0]).toMatchObject({
      score: { exact: '4/1' },
      setAside: [{ principal: 'p-c', judge: 'c', score: { exact: '1/1', on5: 1, on100: 20 } }],
    })
  })
})

describe('a review passes only', () => {
  it.each<[string, Record<string, Reply>, Setting]>([
    ['at the bar: below it everybody’s accept is not enough', { a: grades(2, true), b: grades(2, true), c: grades(2, true) }, {}],
    ['with a majority: all fives are not enough', { a: grades(5, false), b: grades(5, false) }, {}],
    ['with a strict majority: a tie rejects', { a: grades(5, false) }, { roster: ['a', 'b'], rules: rulesOf({ mode: 'full', size: 2 }) }],
    ['without a veto: two of three are not enough', { a: grades(2, false, { met: { AC1: { met: 'no', evidence: ['x:1'] } } }) }, {}],
    [
      'without a veto, though its scores are set aside',
      { a: grades(1, false, { met: { AC1: { met: 'no', evidence: ['x:1'] } } }), b: grades(5), c: grades(5) },
      {},
    ],
    ['without a veto from before', { a: { kind: 'abstains' } }, { rules: rulesOf({ mode: 'full' }, { vetoes: [vetoBy('a')] }) }],
  ])('%s', (_, replies, setting) => {
    expect(decide(replies, setting).outcome).toBe('reject')
  })

  it('with no veto: the same panel passes where the policy knows none', () => {
    const rules = rulesOf({ mode: 'full', veto: 'off' }, { vetoes: [vetoBy('b')] })
    const decision = decide({ a: grades(2, false, { met: { AC1: { met: 'no', evidence: ['x:1'] } } }) }, { rules })
    expect(decision).toMatchObject({ outcome: 'pass', vetoes: [] })
  })

  it('says which vetoes stand', () => {
    const raised: Veto = { criterion: 'AC1', judge: 'a', principal: 'p-a', review: 7, evidence: ['x:1'] }
    expect(decide({ a: grades(2, false, { met: { AC1: { met: 'no', evidence: ['x:1'] } } }) }).vetoes).toEqual([raised])
  })
})

describe('a rejection', () => {
  it('names the commonest category, and among equals the first of the contract', () => {
    const category = (...given: Category[]) =>
      decide(Object.fromEntries(given.map((one, index) => [`j${index}`, reject(one)])), {
        roster: given.map((_, index) => `j${index}`),
        rules: rulesOf({ mode: 'full', size: given.length }),
      }).category
    expect(category('spec_violation', 'weak_test', 'spec_violation')).toBe('spec_violation')
    expect(category('spec_violation', 'weak_test', 'half_finished')).toBe('weak_test')
    expect(category('spec_violation', 'scope_creep')).toBe('scope_creep')
    for (const one of Category.options) expect(category(one, one)).toBe(one)
  })

  it('counts seats for the category, and only the rejecting ones', () => {
    const replies = { a: [reject('spec_violation'), reject('spec_violation'), reject('spec_violation')], b: reject('scope_creep') }
    expect(decide(replies, { roster: ['a', 'b'] }).category).toBe('spec_violation')
    expect(decide({ a: grades(2, true), b: reject('weak_test'), c: reject('weak_test') }).category).toBe('weak_test')
  })

  it('has one point for each rejecting seat and the surface of all of them', () => {
    const a = grades(1, false, {
      met: { AC1: { met: 'no', evidence: ['z.ts:1', 'b.ts:2'] }, AC2: { met: 'yes', evidence: ['fine.ts:1'] } },
      words: { evidence: ['m.ts:3'], nextStep: 'mend z' },
    })
    const b = reject('weak_test', { evidence: ['m.ts:3', 'a.ts:1'], nextStep: 'test a' })
    const decision = decide({ a, b, c: grades(4, true, { words: { evidence: ['other.ts:1'] } }) })
    expect(decision.points).toEqual([
      { from: 'a', text: 'mend z' },
      { from: 'b', text: 'test a' },
    ])
    expect(decision.pointers).toEqual(['a.ts:1', 'b.ts:2', 'm.ts:3', 'z.ts:1'])
    expect(decision.dissent).toEqual([{ judge: 'c', accepts: true, concern: 'concern of c' }])
  })

  it('tells the concern of its own category that rests on evidence', () => {
    const replies = {
      a: reject('scope_creep', { concern: 'other category' }),
      b: reject('weak_test', { concern: 'leans on air', leansOnUnresolved: true }),
      c: reject('weak_test', { concern: 'well founded' }),
    }
    expect(decide(replies).concern).toBe('well founded')
    expect(decide({ ...replies, c: reject('weak_test', { concern: 'airy too', leansOnUnresolved: true }) }).concern).toBe('leans on air')
  })

  it('of text judges has their feedback, and no category of its own', () => {
    const decision = decide(
      {
        a: { kind: 'text', score100: '20', feedback: ' It is empty. ' },
        b: { kind: 'text', score100: '0', feedback: ' ' },
        c: { kind: 'text', score100: '90.5' },
      },
      { roster: ['a~', 'b~', 'c~'] },
    )
    expect(decision).toMatchObject({
      outcome: 'reject',
      category: 'acceptance_gap',
      concern: 'It is empty.',
      pointers: [],
      score: { exact: '0/1' },
    })
    expect(decision.points).toEqual([
      { from: 'a', text: 'It is empty.' },
      { from: 'b', text: 'Scored 0 of 100, without a word.' },
    ])
    expect(decision.dissent).toEqual([{ judge: 'c', accepts: true, concern: 'text of c' }])
    expect(decision.dimensions[0]?.reasoning).toEqual([])
  })

  it('takes the category of whoever gave one', () => {
    const replies: Record<string, Reply> = {
      a: { kind: 'text', score100: '20' },
      b: reject('weak_test'),
      c: { kind: 'text', score100: '20' },
    }
    expect(decide(replies, { roster: ['a~', 'b', 'c~'] })).toMatchObject({ category: 'weak_test', concern: 'concern of b' })
  })

  it('by the score alone points to the weakest dimension, in the words of whoever scored it lowest', () => {
    const rules = rulesOf({ mode: 'full' }, { dimensions: [dimension('craft', 1), dimension('care', 1), dimension('cheer', 1)], bar: 4 })
    const decision = decide({ a: grades([5, 3, 3], true), b: grades([5, 2, 3], true), c: grades([5, 2, 3], true) }, { rules })
    expect(decision).toMatchObject({
      outcome: 'reject',
      category: 'acceptance_gap',
      accepts: 3,
      concern: 'The score 3.33 (66.66/100) is below the bar of 4.0 (80/100); the weakest dimension is care.',
      points: [{ from: 'b', text: 'care: b on care' }],
      pointers: [],
    })
  })

  it('by the score alone takes the first of equally weak dimensions', () => {
    const rules = rulesOf({ mode: 'full' }, { dimensions: [dimension('craft'), dimension('care')] })
    expect(decide({ a: grades(2, true), b: grades(2, true), c: grades(2, true) }, { rules }).points).toEqual([
      { from: 'a', text: 'craft: a on craft' },
    ])
  })

  it('by a veto from before says so first', () => {
    const veto = vetoBy('z', 'AC1', { evidence: ['a.txt:1', 'b.txt:2'] })
    const rules = rulesOf({ mode: 'full', quorum: 1 }, { vetoes: [veto] })
    const replies: Record<string, Reply> = { z: { kind: 'down' }, b: { kind: 'text', score100: '90', feedback: 'Nice.' } }
    const decision = decide(replies, { rules, roster: ['z', 'b~'] })
    const sentence = 'z vetoed AC1 ("it says hello") in review 3 and that veto stands: a.txt:1, b.txt:2.'
    expect(decision).toMatchObject({ outcome: 'reject', category: 'acceptance_gap', concern: sentence, vetoes: [veto] })
    expect(decision.points).toEqual([
      { from: 'z', text: sentence },
      { from: 'b', text: 'craft: Nice.' },
    ])
  })

  it('names a criterion that the task no longer has by its id', () => {
    const rules = rulesOf({ mode: 'full' }, { vetoes: [vetoBy('a', 'AC9')] })
    expect(decide({}, { rules }).concern).toBe('a vetoed AC9 in review 3 and that veto stands: a.txt:1.')
  })
})

describe('missing seats', () => {
  it('are recorded with why', () => {
    const rules = rulesOf({ mode: 'full', size: 5, quorum: 1 })
    const decision = decide(
      { a: { kind: 'abstains' }, b: { kind: 'garbles' }, c: { kind: 'down' } },
      { rules, roster: ['a', 'b', 'c', 'd', 'e'] },
    )
    expect(decision.missing).toEqual([
      { seat: 1, judge: 'a', why: 'abstained' },
      { seat: 2, judge: 'b', why: 'void' },
      { seat: 3, judge: 'c', why: 'unavailable' },
    ])
    expect(decision).toMatchObject({ accepts: 2, rejects: 0, outcome: 'pass' })
  })

  it('include those that did not have to be asked', () => {
    const rules = rulesOf({ size: 4 })
    expect(decide({}, { rules }).missing).toEqual([
      { seat: 3, judge: 'c', why: 'not_needed' },
      { seat: 4, judge: 'a', why: 'not_needed' },
    ])
  })

  it('of a degraded review are not hidden', () => {
    expect(decide({}, { roster: ['a'] })).toMatchObject({ quorum: 1, degraded: true, accepts: 1 })
  })
})

describe('a panel without a quorum', () => {
  it('names only the seats that failed', () => {
    const two = { a: { kind: 'garbles' }, b: { kind: 'abstains' }, c: { kind: 'garbles' } } as const
    expect(end(two)).toMatchObject({ detail: 'seat 1 (a) could not be read: no JSON; seat 3 (c) could not be read: no JSON' })
    const down = { a: { kind: 'garbles' }, b: { kind: 'down' }, c: { kind: 'abstains' } } as const
    expect(end(down)).toEqual({ kind: 'unavailable', detail: 'seat 2 (b) could not be reached: 503' })
  })

  const end = (replies: Record<string, Reply | Reply[]>, rules = rulesOf({ mode: 'full' })) =>
    play(panelOf(['a', 'b', 'c'], rules), rules, scripted(replies)).end

  it('that could not tell rejects with what is missing', () => {
    const c = grades(4, true, { met: { AC2: 'cannot_tell' } })
    const found = end({ a: { kind: 'abstains' }, b: { kind: 'abstains', on: 'AC3' }, c })
    if (found.kind !== 'cannot_tell') throw new Error(found.kind)
    expect(Decision.parse(found.decision)).toEqual(found.decision)
    const untold = [
      { from: 'a', text: 'Cannot tell whether AC1 ("it says hello") is met: a on AC1' },
      { from: 'b', text: 'Cannot tell whether AC3 ("it ends") is met: b on AC3' },
    ]
    expect(found.decision).toEqual({
      outcome: 'reject',
      graded: false,
      parse_failed: false,
      bar: 3,
      dimensions: [],
      accepts: 1,
      rejects: 0,
      quorum: 2,
      degraded: false,
      category: 'acceptance_gap',
      concern: `Fewer than 2 principals could grade this. ${untold[0]?.text} ${untold[1]?.text}`,
      points: untold,
      pointers: [],
      vetoes: [],
      dissent: [{ judge: 'c', accepts: true, concern: 'concern of c' }],
      missing: [
        { seat: 1, judge: 'a', why: 'abstained' },
        { seat: 2, judge: 'b', why: 'abstained' },
      ],
    })
  })

  it('passes on what the one who could tell asked for, and leaves vetoes as they were', () => {
    const rules = rulesOf({ mode: 'full' }, { vetoes: [vetoBy('a')] })
    const c = grades(1, false, {
      met: { AC1: { met: 'no', evidence: ['x:1'] } },
      words: { category: 'spec_violation', nextStep: 'mend x' },
    })
    const found = end({ a: { kind: 'abstains' }, b: { kind: 'abstains' }, c }, rules)
    if (found.kind !== 'cannot_tell') throw new Error(found.kind)
    expect(found.decision).toMatchObject({ category: 'acceptance_gap', pointers: ['x:1'], vetoes: [vetoBy('a')], accepts: 0, rejects: 1 })
    expect(found.decision.points.at(-1)).toEqual({ from: 'c', text: 'mend x' })
    expect(found.decision).not.toHaveProperty('score')
  })

  it('though everybody graded says that they are too few', () => {
    const rules = rulesOf({ mode: 'full', size: 1 })
    const { end: found } = play(panelOf(['a'], rules, { quorum: 2 }), rules, () => grades(5))
    if (found.kind !== 'cannot_tell') throw new Error(found.kind)
    const concern = 'Fewer than 2 principals could grade this.'
    expect(found.decision).toMatchObject({ outcome: 'reject', graded: false, concern, points: [{ from: 'runtime', text: concern }] })
  })

  it('that could not be read keeps the category of the one that was', () => {
    const found = end({ a: { kind: 'garbles' }, b: { kind: 'garbles' }, c: reject('weak_test', { nextStep: 'test it' }) })
    if (found.kind !== 'unreadable') throw new Error(found.kind)
    expect(found).toMatchObject({ anyGradedOrAbstained: true, decision: { category: 'weak_test', parse_failed: true, rejects: 1 } })
    expect(found.decision.points.map(({ from }) => from)).toEqual(['runtime', 'c'])
  })

  it('that could not be read synthesises a rejection that says so', () => {
    const found = end({ a: { kind: 'garbles', reason: 'two verdicts' }, b: { kind: 'garbles' }, c: { kind: 'garbles' } })
    if (found.kind !== 'unreadable') throw new Error(found.kind)
    const detail =
      'seat 1 (a) could not be read: two verdicts; seat 2 (b) could not be read: no JSON; seat 3 (c) could not be read: no JSON'
    expect(found).toMatchObject({ detail, anyGradedOrAbstained: false })
    expect(Decision.parse(found.decision)).toEqual(found.decision)
    expect(found.decision).toMatchObject({
      outcome: 'reject',
      graded: false,
      parse_failed: true,
      accepts: 0,
      rejects: 0,
      category: 'acceptance_gap',
      concern: `No verdict: ${detail}.`,
      points: [{ from: 'runtime', text: `No verdict: ${detail}.` }],
    })
  })
})
