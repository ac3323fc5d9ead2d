import { describe, expect, it } from 'vitest'
import type { PanelSettings } from '../../contract/config/review.ts'
import type { Veto } from '../../contract/review.ts'
import { grades, panelOf, play, type Reply, rulesOf, scripted, vetoBy } from '../../testing/panel/panel-kit.ts'
import { isUpheld, settleVetoes } from './veto.ts'

const no = (evidence: string[], id = 'AC1'): Reply => grades(2, false, { met: { [id]: { met: 'no', evidence } } })
const yes = grades(4)
const noted = (vetoes: readonly Veto[]) => vetoes.map(({ criterion, judge }) => `${judge}:${criterion}`).join(' ')

function review(
  replies: Record<string, Reply | Reply[]>,
  { vetoes = [], roster = ['a', 'b', 'c'], ...settings }: Partial<PanelSettings> & { vetoes?: Veto[]; roster?: string[] } = {},
) {
  const rules = rulesOf({ mode: 'full', ...settings }, { vetoes })
  const played = play(panelOf(roster, rules), rules, scripted(replies, yes))
  return { ...played, ...settleVetoes(played.panel, rules) }
}

describe('a veto is raised', () => {
  it('by `no` on a hard criterion with evidence that was found, and keeps what was found', () => {
    const { raised, standing, lifted } = review({ b: no(['x.txt:1', 'y.txt:9?', 'z.txt:2']) })
    expect(raised).toEqual([{ criterion: 'AC1', judge: 'b', principal: 'p-b', review: 7, evidence: ['x.txt:1', 'z.txt:2'] }])
    expect(standing).toEqual(raised)
    expect(lifted).toEqual([])
  })

  it.each<[string, Reply, Partial<PanelSettings>]>([
    ['evidence that was not found', no(['x.txt:1?']), {}],
    ['no evidence', no([]), {}],
    ['a soft criterion', no(['x.txt:1'], 'AC2'), {}],
    ['a policy without vetoes', no(['x.txt:1']), { veto: 'off' }],
    ['a yes with evidence', grades(4, true, { met: { AC1: { met: 'yes', evidence: ['x.txt:1'] } } }), {}],
    ['an abstention', { kind: 'abstains' }, {}],
    ['a text judge', { kind: 'text', score100: '0' }, {}],
  ])('not by %s', (_, reply, settings) => {
    expect(review({ b: reply }, settings)).toMatchObject({ raised: [], standing: [] })
  })

  it('once for each criterion and principal, with the evidence of all its sittings', () => {
    const twice = review({ a: [no(['x:1', 'y:1']), no(['y:1', 'z:1'])], b: no(['x:1']) }, { roster: ['a', 'b'] })
    expect(twice.raised).toEqual([
      { criterion: 'AC1', judge: 'a', principal: 'p-a', review: 7, evidence: ['x:1', 'y:1', 'z:1'] },
      { criterion: 'AC1', judge: 'b', principal: 'p-b', review: 7, evidence: ['x:1'] },
    ])
    const both = review({ a: grades(1, false, { met: { AC1: { met: 'no', evidence: ['x'] }, AC3: { met: 'no', evidence: ['y'] } } }) })
    expect(noted(both.raised)).toBe('a:AC1 a:AC3')
  })

  it('not again while it stands', () => {
    const again = review({ a: no(['new:1']) }, { vetoes: [vetoBy('a')] })
    expect(again.raised).toEqual([])
    expect(again.standing).toEqual([vetoBy('a')])
  })

  it('beside one that stands on another criterion, or of another principal', () => {
    const { raised, standing } = review({ a: no(['x'], 'AC3'), b: no(['x']) }, { vetoes: [vetoBy('a')] })
    expect(noted(raised)).toBe('a:AC3 b:AC1')
    expect(noted(standing)).toBe('a:AC3 b:AC1')
  })
})

describe('a standing veto', () => {
  const vetoes = [vetoBy('a')]

  it('is lifted by its own judge’s yes, whatever the others say', () => {
    const { lifted, standing } = review({ b: grades(2, false, { met: { AC1: 'no' } }) }, { vetoes })
    expect(lifted).toEqual([{ criterion: 'AC1', principal: 'p-a', by: 'judge' }])
    expect(standing).toEqual([])
  })

  it.each<[string, Reply | Reply[]]>([
    ['says no', no([])],
    ['cannot tell', { kind: 'abstains' }],
    ['is vague on that criterion while grading', grades(4, true, { met: { AC1: 'cannot_tell' } })],
    ['answers unreadably', { kind: 'garbles' }],
    ['abstains on another criterion', { kind: 'abstains', on: 'AC3' }],
  ])('stands when its judge %s, though all others say yes', (_, reply) => {
    const { lifted, standing } = review({ a: reply }, { vetoes })
    expect(lifted).toEqual([])
    expect(standing).toEqual(vetoes)
  })

  it('stands when its judge answers in text', () => {
    const { standing } = review({ a: { kind: 'text', score100: '100' } }, { vetoes, roster: ['a~', 'b', 'c'] })
    expect(standing).toEqual(vetoes)
  })

  it('stands when one sitting of its principal says yes and another does not', () => {
    const roster = ['a', 'b']
    for (const second of [no([]), { kind: 'abstains' } as const]) {
      expect(review({ a: [yes, second] }, { vetoes, roster }).standing).toEqual(vetoes)
      expect(review({ a: [second, yes] }, { vetoes, roster }).standing).toEqual(vetoes)
    }
    expect(review({ a: [yes, yes] }, { vetoes, roster }).standing).toEqual([])
    expect(review({ a: [yes, { kind: 'garbles' }, { kind: 'garbles' }] }, { vetoes, roster }).standing).toEqual([])
    expect(review({ a: [yes, { kind: 'abstains', on: 'AC3' }] }, { vetoes, roster }).standing).toEqual([])
    expect(review({ a: [yes, { kind: 'text', score100: '0' }] }, { vetoes, roster: ['a~', 'b'] }).standing).toEqual([])
  })

  it('is lifted by another agent of the same principal', () => {
    const { lifted } = review({}, { vetoes, roster: ['a9@p-a', 'b', 'c'] })
    expect(lifted).toEqual([{ criterion: 'AC1', principal: 'p-a', by: 'judge' }])
  })

  it.each<[string, string[], Record<string, Reply>]>([
    ['could not be reached', ['a', 'b', 'c'], { a: { kind: 'down' } }],
    ['could not be reached and was replaced', ['a', 'b', 'c', 'd'], { a: { kind: 'down' } }],
    ['is no longer on the roster', ['b', 'c', 'd'], {}],
  ])('is lifted by everybody’s yes when its judge %s', (_, roster, replies) => {
    const { lifted, standing } = review(replies, { vetoes, roster })
    expect(lifted).toEqual([{ criterion: 'AC1', principal: 'p-a', by: 'panel' }])
    expect(standing).toEqual([])
  })

  it.each<[string, Reply]>([
    ['no', no([])],
    ['in text', { kind: 'text', score100: '100' }],
    ['that it cannot tell', grades(4, true, { met: { AC1: 'cannot_tell' } })],
  ])('stands when its judge could not be reached and one of the others answers %s', (_, reply) => {
    expect(review({ a: { kind: 'down' }, c: reply }, { vetoes, roster: ['a', 'b', 'c'], quorum: 1 }).standing).toEqual(vetoes)
  })

  it('stands when its judge could not be reached and too few grade', () => {
    const few = review({ a: { kind: 'down' }, b: { kind: 'abstains' } }, { vetoes })
    expect(few.end.kind).toBe('unavailable')
    expect(few.standing).toEqual(vetoes)
    const none = review({ a: { kind: 'down' }, b: { kind: 'abstains' }, c: { kind: 'abstains' } }, { vetoes })
    expect(none.standing).toEqual(vetoes)
  })

  it('stands when its judge was unreadable first and replaced', () => {
    expect(review({ a: { kind: 'garbles' } }, { vetoes, roster: ['a', 'b', 'c', 'd'] }).standing).toEqual(vetoes)
  })

  it('stands when it was unavailable at one seat and unreadable at another', () => {
    const mixed = review({ a: [{ kind: 'down' }, { kind: 'garbles' }] }, { vetoes, roster: ['a', 'b'], quorum: 1 })
    expect(mixed.panel.seats.map(({ status }) => status)).toEqual(['unavailable', 'graded', 'void'])
    expect(mixed.standing).toEqual(vetoes)
  })

  it('stands when its judge was not asked, for want of a seat', () => {
    const many = [vetoBy('a'), vetoBy('b'), vetoBy('c')]
    const { standing, lifted } = review({}, { vetoes: many, size: 2 })
    expect(noted(standing)).toBe('c:AC1')
    expect(lifted.map(({ principal }) => principal)).toEqual(['p-a', 'p-b'])
  })

  it('of one criterion is not lifted by a yes on another', () => {
    const both = [vetoBy('a'), vetoBy('a', 'AC3')]
    const { standing, lifted } = review({ a: no([], 'AC3') }, { vetoes: both })
    expect(noted(standing)).toBe('a:AC3')
    expect(lifted).toEqual([{ criterion: 'AC1', principal: 'p-a', by: 'judge' }])
    const unknown = review({}, { vetoes: [vetoBy('a', 'AC9')] })
    expect(noted(unknown.standing)).toBe('a:AC9')
  })

  it.each<[string, Reply | Reply[], boolean]>([
    ['no', no([]), true],
    ['that it cannot tell', { kind: 'abstains' }, true],
    ['yes, then no', [yes, no([])], true],
    ['yes', yes, false],
    ['nothing readable', { kind: 'garbles' }, false],
    ['in text', { kind: 'text', score100: '0' }, false],
    ['no to something else', no([], 'AC3'), false],
  ])('is upheld when its judge says %s: %s', (_, reply, upheld) => {
    expect(isUpheld(vetoBy('a'), review({ a: reply, b: no([]) }, { vetoes, roster: ['a', 'b'] }).panel)).toBe(upheld)
  })

  it('neither blocks nor is lifted where the policy knows no veto', () => {
    expect(review({}, { vetoes, veto: 'off' })).toMatchObject({ raised: [], lifted: [], standing: [] })
  })
})
