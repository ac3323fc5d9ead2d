import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PanelSettings } from '../../contract/config/review.ts'
import { eligible, panelOf, rulesOf, vetoBy } from '../../testing/panel/panel-kit.ts'
import { bindingVetoes, furtherSeats, openingSeats, quorumInForce, seatOrder } from './seating.ts'
import { evolvePanel, type Panel } from './state.ts'

const names = (seats: readonly { judge: string; repeat?: boolean }[]) =>
  seats.map(({ judge, repeat }) => (repeat ? `${judge}*` : judge)).join(' ')

describe('quorumInForce', () => {
  it.each<[number, number, number, number, boolean]>([
    [2, 3, 3, 2, false],
    [2, 3, 2, 2, false],
    [2, 3, 1, 1, true],
    [3, 2, 9, 2, false],
    [3, 2, 2, 2, false],
    [3, 2, 1, 1, true],
    [1, 1, 1, 1, false],
    [5, 5, 4, 4, true],
  ])('quorum %s of %s with %s principals is %s, degraded %s', (quorum, size, principals, inForce, degraded) => {
    expect(quorumInForce(PanelSettings.parse({ quorum, size }), principals)).toEqual({ quorum: inForce, degraded })
  })
})

describe('seatOrder', () => {
  const roster = ['a', 'b', 'c', 'd@p-b'].map(eligible)
  it.each<[string, ReturnType<typeof vetoBy>[], string]>([
    ['is the roster', [], 'a b c d'],
    ['puts the vetoing principal first', [vetoBy('c')], 'c a b d'],
    ['in the order of the vetoes, each once', [vetoBy('c'), vetoBy('b'), vetoBy('c', 'AC3')], 'c b a d'],
    ['prefers the agent that vetoed', [vetoBy('d', 'AC1', { principal: 'p-b' })], 'd a b c'],
    ['else any agent of that principal', [vetoBy('gone', 'AC1', { principal: 'p-b' })], 'b a c d'],
    ['and forgets those no longer there', [vetoBy('gone')], 'a b c d'],
    ['a name that became another principal is not the vetoer', [vetoBy('a', 'AC1', { principal: 'p-c' })], 'c a b d'],
  ])('%s', (_, vetoes, expected) => {
    expect(names(seatOrder(roster, vetoes))).toBe(expected)
  })
})

describe('bindingVetoes', () => {
  it('are none where the policy knows no veto', () => {
    expect(bindingVetoes(rulesOf({}, { vetoes: [vetoBy('a')] }))).toEqual([vetoBy('a')])
    expect(bindingVetoes(rulesOf({ veto: 'off' }, { vetoes: [vetoBy('a')] }))).toEqual([])
  })
})

describe('openingSeats', () => {
  it.each<[string, Partial<PanelSettings>, string[], string]>([
    ['escalate asks two', {}, ['a', 'b', 'c'], 'a b'],
    ['or the quorum', { size: 5, quorum: 4 }, ['a', 'b', 'c', 'd', 'e'], 'a b c d'],
    ['or one, if that is the panel', { size: 1 }, ['a', 'b'], 'a'],
    ['full asks all', { mode: 'full' }, ['a', 'b', 'c', 'd'], 'a b c'],
    ['curtail asks the quorum', { mode: 'curtail', size: 5, quorum: 3 }, ['a', 'b', 'c', 'd', 'e'], 'a b c'],
    ['curtail asks one for a quorum of one', { mode: 'curtail', quorum: 1 }, ['a', 'b', 'c'], 'a'],
    ['escalate asks two for a quorum of one', { quorum: 1 }, ['a', 'b', 'c'], 'a b'],
    ['a lone judge sits repeatedly', {}, ['a'], 'a a*'],
    ['fresh runs go round in order', { mode: 'full', size: 5 }, ['a', 'b'], 'a b a* b* a*'],
    ['new principals come before further agents of the same', { size: 2 }, ['a', 'a2@p-a', 'b'], 'a b'],
    ['which sit before anybody sits twice', { mode: 'full', size: 4 }, ['a', 'a2@p-a', 'b'], 'a b a2 a*'],
  ])('%s', (_, settings, roster, expected) => {
    const rules = rulesOf(settings)
    expect(names(openingSeats(panelOf(roster, rules), rules))).toBe(expected)
  })

  it('asks everybody when the worker talked to the reviewer', () => {
    for (const mode of ['escalate', 'curtail'] as const) {
      const rules = rulesOf({ mode })
      expect(names(openingSeats(panelOf(['a', 'b', 'c'], rules, { suspicions: ['x'] }), rules))).toBe('a b c')
    }
  })

  it('hears every principal that holds a veto, as far as there are seats', () => {
    const vetoes = [vetoBy('c'), vetoBy('d'), vetoBy('b', 'AC3'), vetoBy('b'), vetoBy('gone')]
    const roster = ['a', 'b', 'c', 'd', 'c2@p-c']
    const rules = (settings: Partial<PanelSettings>) => rulesOf(settings, { vetoes })
    const opening = (settings: Partial<PanelSettings>) => names(openingSeats(panelOf(roster, rules(settings)), rules(settings)))
    expect(opening({ size: 4 })).toBe('c d b')
    expect(opening({ size: 4, mode: 'curtail', quorum: 1 })).toBe('c d b')
    expect(opening({ size: 2 })).toBe('c d')
    expect(opening({ size: 4, veto: 'off' })).toBe('a b')
    expect(opening({ size: 4, quorum: 4 })).toBe('c d b a')
  })

  it('numbers from one, in the first round', () => {
    const rules = rulesOf({ mode: 'full', size: 2 })
    expect(openingSeats(panelOf(['a'], rules), rules)).toEqual([
      { review: 7, seat: 1, judge: 'a', principal: 'p-a', repeat: false, round: 1, because: 'opening' },
      { review: 7, seat: 2, judge: 'a', principal: 'p-a', repeat: true, round: 1, because: 'opening' },
    ])
  })
})

describe('furtherSeats', () => {
  const seated = (panel: Panel, ...judges: string[]) =>
    judges.reduce(
      (now, judge, index) =>
        evolvePanel(now, {
          type: 'seat.asked',
          data: { review: 7, seat: index + 1, judge, principal: `p-${judge}`, repeat: false, round: 1, because: 'opening' },
        }),
      panel,
    )
  const replaced = (panel: Panel, seat: number, judge: string) =>
    evolvePanel(panel, {
      type: 'seat.asked',
      data: { review: 7, seat, judge, principal: `p-${judge}`, repeat: false, round: 2, because: 'replacement' },
    })

  it('go on where the opening stopped', () => {
    const rules = rulesOf({ size: 4 })
    const panel = seated(panelOf(['a', 'b', 'c', 'd', 'e'], rules), 'a', 'b')
    expect(furtherSeats(panel, rules, 'escalation')).toMatchObject([
      { seat: 3, judge: 'c', because: 'escalation', repeat: false },
      { seat: 4, judge: 'd', because: 'escalation', repeat: false },
    ])
  })

  it('pass over whoever went to replace another', () => {
    const rules = rulesOf({ size: 3 })
    const four = replaced(seated(panelOf(['a', 'b', 'c', 'd'], rules), 'a', 'b'), 1, 'c')
    expect(names(furtherSeats(four, rules, 'escalation'))).toBe('d')
    const three = replaced(seated(panelOf(['a', 'b', 'c'], rules), 'a', 'b'), 1, 'c')
    expect(furtherSeats(three, rules, 'escalation')).toEqual([])
    const wide = rulesOf({ size: 5 })
    const repeats = replaced(seated(panelOf(['a', 'b', 'c'], wide), 'a', 'b'), 1, 'c')
    expect(furtherSeats(repeats, wide, 'escalation')).toMatchObject([
      { seat: 3, judge: 'a', repeat: true },
      { seat: 4, judge: 'b', repeat: true },
    ])
  })

  it('fill every panel: all agents before any repeat, no principal twice while another waits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 15 }),
        (principals, size) => {
          const rules = rulesOf({ mode: 'full', size })
          const roster = principals.map((principal, index) => `j${index}@p${principal}`)
          const seats = openingSeats(panelOf(roster, rules), rules)
          expect(seats.map(({ seat }) => seat)).toEqual(Array.from({ length: size }, (_, index) => index + 1))
          expect(seats.filter(({ repeat }) => repeat)).toHaveLength(Math.max(0, size - roster.length))
          const distinct = new Set(principals).size
          const first = seats.slice(0, Math.min(size, distinct))
          expect(new Set(first.map(({ principal }) => principal)).size).toBe(first.length)
          const agents = seats.slice(0, Math.min(size, roster.length))
          expect(new Set(agents.map(({ judge }) => judge)).size).toBe(agents.length)
        },
      ),
    )
  })
})

describe('a judge outside', () => {
  it('sits once: only judges that Assay can ask afresh are repeated', () => {
    const opened = panelOf(['a', 'b'], rulesOf({ size: 4, mode: 'full' }))
    const away = (names: string[]): Panel => ({
      ...opened,
      roster: opened.roster.map((one) => (names.includes(one.judge) ? { ...one, outside: true as const } : one)),
    })
    expect(names(furtherSeats(opened, rulesOf({ size: 4 }), 'opening'))).toBe('a b a* b*')
    expect(names(furtherSeats(away(['a']), rulesOf({ size: 4 }), 'opening'))).toBe('a b b* b*')
    expect(names(furtherSeats(away(['a', 'b']), rulesOf({ size: 4 }), 'opening'))).toBe('a b')
  })
})
