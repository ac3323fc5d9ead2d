import { describe, expect, it } from 'vitest'
import type { PanelSettings } from '../../contract/config/review.ts'
import { advance, retrySeats } from './advance.ts'
import { answerOf, grades, panelOf, play, type Played, type Reply, rulesOf, scripted, vetoBy } from '../../testing/panel/panel-kit.ts'
import { evolvePanel, type Panel, type PanelRules } from './state.ts'

const garbles: Reply = { kind: 'garbles' }
const down: Reply = { kind: 'down' }
const abstains: Reply = { kind: 'abstains' }
const four = grades(4)

function run(
  roster: string[],
  replies: Record<string, Reply | Reply[]>,
  settings: Partial<PanelSettings> = {},
  rest: Partial<PanelRules> = {},
) {
  const rules = rulesOf(settings, rest)
  return play(panelOf(roster, rules), rules, scripted(replies, four))
}
/** `seat judge/round because` for every call. */
const calls = ({ asked }: Played) => asked.map(({ seat, judge, round, because }) => `${seat} ${judge}/${round} ${because}`)
const statuses = ({ panel }: Played) => panel.seats.map(({ judge, status }) => `${judge} ${status}`)

describe('advance', () => {
  it('asks the opening seats, then waits for them', () => {
    const rules = rulesOf()
    const panel = panelOf(['a', 'b', 'c'], rules)
    const next = advance(panel, rules)
    expect(next).toEqual({
      kind: 'ask',
      voided: [],
      seats: [
        { review: 7, seat: 1, judge: 'a', principal: 'p-a', repeat: false, round: 1, because: 'opening' },
        { review: 7, seat: 2, judge: 'b', principal: 'p-b', repeat: false, round: 1, because: 'opening' },
      ],
    })
    if (next.kind !== 'ask') return
    const asked = next.seats.reduce<Panel>((now, data) => evolvePanel(now, { type: 'seat.asked', data }), panel)
    expect(advance(asked, rules)).toEqual({ kind: 'wait' })
    const one = evolvePanel(asked, answerOf(asked, asked.seats[0]!, four, rules))
    expect(advance(one, rules)).toEqual({ kind: 'wait' })
    const both = evolvePanel(one, answerOf(one, one.seats[1]!, four, rules))
    expect(advance(both, rules)).toMatchObject({ kind: 'decide', decision: { outcome: 'pass' }, raised: [], lifted: [] })
  })

  it('hands on the vetoes that a decision raises and lifts', () => {
    const no = grades(2, false, { met: { AC1: { met: 'no', evidence: ['x'] } } })
    const { end } = run(['a', 'b', 'c'], { b: no }, { mode: 'full' }, { vetoes: [vetoBy('c', 'AC3')] })
    expect(end).toMatchObject({
      kind: 'decide',
      raised: [{ criterion: 'AC1', judge: 'b' }],
      lifted: [{ criterion: 'AC3', principal: 'p-c', by: 'judge' }],
    })
  })
})

describe('an unreadable reply', () => {
  it('is asked for once more, naming what was wrong, while the others go on', () => {
    const played = run(['a', 'b', 'c'], { a: [{ kind: 'garbles', reason: 'no nonce' }, four] })
    expect(calls(played)).toEqual(['1 a/1 opening', '2 b/1 opening', '1 a/2 reprompt'])
    expect(played.asked[2]).toEqual({
      review: 7,
      seat: 1,
      judge: 'a',
      principal: 'p-a',
      repeat: false,
      round: 2,
      because: 'reprompt',
      complaint: 'no nonce',
    })
    expect(statuses(played)).toEqual(['a graded', 'b graded'])
    expect(played.end).toMatchObject({
      kind: 'decide',
      decision: { outcome: 'pass', missing: [{ seat: 3, judge: 'c', why: 'not_needed' }] },
    })
  })

  it('twice brings a replacement to the same seat, which counts as the further seat', () => {
    const played = run(['a', 'b', 'c', 'd'], { a: garbles })
    expect(calls(played)).toEqual(['1 a/1 opening', '2 b/1 opening', '1 a/2 reprompt', '1 c/3 replacement'])
    expect(played.asked[3]).not.toHaveProperty('complaint')
    expect(statuses(played)).toEqual(['c graded', 'b graded'])
    expect(played.end).toMatchObject({ kind: 'decide', decision: { accepts: 2, missing: [{ seat: 3, judge: 'd', why: 'not_needed' }] } })
  })

  it('of a replacement gets its own reprompt, and then the seat is void', () => {
    const played = run(['a', 'b', 'c', 'd'], { a: garbles, c: garbles })
    expect(calls(played).slice(2)).toEqual(['1 a/2 reprompt', '1 c/3 replacement', '1 c/4 reprompt', '3 d/1 escalation'])
    expect(played.voided).toEqual([{ review: 7, seat: 1, judge: 'c' }])
    expect(statuses(played)).toEqual(['c void', 'b graded', 'd graded'])
  })

  it('voids the seat where nobody is left to replace', () => {
    const played = run(['a', 'b'], { a: garbles }, { size: 2, quorum: 1 })
    expect(calls(played)).toEqual(['1 a/1 opening', '2 b/1 opening', '1 a/2 reprompt'])
    expect(played.voided).toEqual([{ review: 7, seat: 1, judge: 'a' }])
    expect(played.end).toMatchObject({ kind: 'decide', decision: { accepts: 1, missing: [{ seat: 1, judge: 'a', why: 'void' }] } })
  })

  it('of two judges at once shares the spares, each principal once', () => {
    const played = run(['a', 'b', 'c', 'c2@p-c', 'd'], { a: garbles, b: garbles }, { mode: 'full', size: 2, quorum: 2 })
    expect(calls(played).filter((call) => call.endsWith('replacement'))).toEqual(['1 c/3 replacement', '2 d/3 replacement'])
  })

  it('is never replaced by another agent of a principal that was asked', () => {
    const played = run(['a', 'b', 'a2@p-a', 'b2@p-b'], { a: garbles }, { mode: 'full', size: 2 })
    expect(calls(played)).toEqual(['1 a/1 opening', '2 b/1 opening', '1 a/2 reprompt'])
    expect(statuses(played)).toEqual(['a void', 'b graded'])
  })

  it('at two seats at once, with one spare between them', () => {
    const rules = rulesOf({ mode: 'full', size: 2 })
    let panel = panelOf(['a', 'b', 'c'], rules)
    const steps: string[] = []
    for (let step = 0; step < 6; step += 1) {
      const next = advance(panel, rules)
      if (next.kind === 'ask') {
        steps.push(
          `${next.seats.map(({ judge, because }) => `${judge} ${because}`).join('+')}|${next.voided.map(({ judge }) => judge).join('+')}`,
        )
        for (const data of next.voided) panel = evolvePanel(panel, { type: 'seat.voided', data })
        for (const data of next.seats) panel = evolvePanel(panel, { type: 'seat.asked', data })
      }
      for (const seat of panel.seats.filter(({ status }) => status === 'asked'))
        panel = evolvePanel(panel, answerOf(panel, seat, garbles, rules))
    }
    expect(steps.slice(0, 3)).toEqual(['a opening+b opening|', 'a reprompt+b reprompt|', 'c replacement|b'])
  })
})

describe('a judge that cannot be reached', () => {
  it('is replaced at once', () => {
    const played = run(['a', 'b', 'c'], { a: down })
    expect(calls(played)).toEqual(['1 a/1 opening', '2 b/1 opening', '1 c/2 replacement'])
    expect(statuses(played)).toEqual(['c graded', 'b graded'])
    expect(played.end.kind).toBe('decide')
  })

  it('leaves its seat unavailable where nobody is left, or the replacement fails too', () => {
    expect(statuses(run(['a', 'b'], { a: down }, { size: 2 }))).toEqual(['a unavailable', 'b graded'])
    expect(statuses(run(['a', 'b', 'c', 'd'], { a: down, c: down }, { mode: 'full', size: 2 }))).toEqual(['c unavailable', 'b graded'])
  })

  it('after an unreadable reply makes the seat unavailable: the last call counts', () => {
    expect(statuses(run(['a', 'b'], { a: [garbles, down] }, { size: 2 }))).toEqual(['a unavailable', 'b graded'])
    expect(statuses(run(['a', 'b', 'c'], { a: garbles, c: down }, { size: 2, mode: 'full' }))).toEqual(['c unavailable', 'b graded'])
    expect(statuses(run(['a', 'b', 'c'], { a: down, c: garbles }, { size: 2, mode: 'full' }))).toEqual(['c void', 'b graded'])
  })

  it('at several seats at once: the spares go round, each principal once, and nothing is voided', () => {
    const together = (roster: string[]) => {
      const rules = rulesOf({ mode: 'full', size: 3 })
      const start = panelOf(roster, rules)
      const opening = advance(start, rules)
      if (opening.kind !== 'ask') throw new Error(opening.kind)
      const asked = opening.seats.reduce((panel, data) => evolvePanel(panel, { type: 'seat.asked', data }), start)
      return advance(
        asked.seats.reduce((panel, seat) => evolvePanel(panel, answerOf(panel, seat, down, rules)), asked),
        rules,
      )
    }
    const next = together(['a', 'b', 'c', 'd', 'd2@p-d', 'e'])
    expect(next).toMatchObject({
      kind: 'ask',
      seats: [
        { seat: 1, judge: 'd' },
        { seat: 2, judge: 'e' },
      ],
      voided: [],
    })
    expect(together(['a', 'b', 'c']).kind).toBe('unavailable')
  })

  it('is held for where the quorum is not met, naming seats and causes', () => {
    const { end } = run(['a', 'b'], { a: { kind: 'down', detail: '429' }, b: { kind: 'down', detail: 'time-out' } }, { size: 2 })
    expect(end).toEqual({
      kind: 'unavailable',
      detail: 'seat 1 (a) could not be reached: 429; seat 2 (b) could not be reached: time-out',
    })
  })
})

describe('escalate', () => {
  it.each<[string, string[], Record<string, Reply | Reply[]>, Partial<PanelSettings>, string]>([
    ['stops at two that agree', ['a', 'b', 'c'], {}, {}, 'a b'],
    ['asks a third where they disagree', ['a', 'b', 'c'], { b: grades(2) }, {}, 'a b c'],
    ['goes on one at a time while they disagree', ['a', 'b', 'c', 'd', 'e'], { b: grades(2) }, { size: 5 }, 'a b c d e'],
    ['stops at its size', ['a', 'b', 'c', 'd', 'e'], { b: grades(2) }, { size: 4 }, 'a b c d'],
    ['of one asks one', ['a', 'b'], {}, { size: 1 }, 'a'],
    ['of two stops at two, whatever the doubt', ['a', 'b', 'c'], { b: grades(2) }, { size: 2 }, 'a b'],
    ['sits a lone judge again where it wavers', ['a'], { a: [four, grades(2), four] }, {}, 'a a a'],
    ['asks on while the quorum is not met', ['a', 'b', 'c', 'd'], { a: abstains, b: abstains }, { size: 4 }, 'a b c d'],
    ['counts a replacement as the further seat', ['a', 'b', 'c', 'd'], { a: down, b: grades(2) }, {}, 'a b c'],
    ['has one further seat less for it', ['a', 'b', 'c', 'd', 'e'], { a: down, b: grades(2) }, { size: 4 }, 'a b c d'],
    ['but asks on for a quorum', ['a', 'b', 'c', 'd'], { a: down, c: abstains }, {}, 'a b c d'],
    ['asks on for a quorum though nothing else is in doubt', ['a', 'b'], { a: down, b: four }, { size: 3 }, 'a b a'],
  ])('%s', (_, roster, replies, settings, expected) => {
    const played = run(roster, replies, settings)
    expect(
      played.asked
        .filter(({ because }) => because !== 'reprompt')
        .map(({ judge }) => judge)
        .join(' '),
    ).toBe(expected)
  })

  it('asks nobody further while a seat is open', () => {
    const rules = rulesOf()
    const { asked } = play(panelOf(['a', 'b', 'c'], rules), rules, scripted({ a: grades(3), b: four }))
    expect(asked.map(({ because }) => because)).toEqual(['opening', 'opening', 'escalation'])
  })

  it('asks everybody at once when the worker talked to the reviewer', () => {
    const rules = rulesOf()
    const { asked } = play(panelOf(['a', 'b', 'c'], rules, { suspicions: ['I am the reviewer'] }), rules, () => four)
    expect(asked.map(({ because }) => because)).toEqual(['opening', 'opening', 'opening'])
  })
})

describe('the panel ends', () => {
  it.each<[string, Record<string, Reply>, Partial<PanelSettings>, Played['end']['kind']]>([
    ['in a decision with its quorum, one seat void', { a: garbles }, {}, 'decide'],
    ['in a decision with its quorum, one seat unavailable', { a: down }, {}, 'decide'],
    ['in a decision with its quorum, one seat abstaining', { a: abstains }, {}, 'decide'],
    ['held where one more was needed and one cannot be reached', { a: down, b: garbles }, {}, 'unavailable'],
    ['held before anything else is said', { a: down, b: abstains }, {}, 'unavailable'],
    ['held with nobody reached', { a: down, b: down, c: down }, {}, 'unavailable'],
    ['not told, where the others abstain', { a: abstains, b: abstains }, {}, 'cannot_tell'],
    ['not told by anybody', { a: abstains, b: abstains, c: abstains }, {}, 'cannot_tell'],
    ['unread where one of two missing ones is void', { a: abstains, b: garbles }, {}, 'unreadable'],
    ['unread', { a: garbles, b: garbles, c: garbles }, {}, 'unreadable'],
    ['decided on one where the quorum is one', { a: garbles, b: down }, { quorum: 1 }, 'decide'],
  ])('%s', (_, replies, settings, kind) => {
    expect(run(['a', 'b', 'c'], replies, { mode: 'full', ...settings }).end.kind).toBe(kind)
  })

  it.each<[string, Record<string, Reply>, boolean]>([
    ['one graded', { a: garbles, b: garbles }, true],
    ['one abstained', { a: garbles, b: garbles, c: abstains }, true],
    ['none did either', { a: garbles, b: garbles, c: garbles }, false],
  ])('unread says whether anybody had something to say: %s', (_, replies, any) => {
    expect(run(['a', 'b', 'c'], replies, { mode: 'full' }).end).toMatchObject({ kind: 'unreadable', anyGradedOrAbstained: any })
  })

  it('counts two sittings of one principal once', () => {
    const { end } = run(['a', 'b'], { b: abstains }, { mode: 'full' })
    expect(end.kind).toBe('cannot_tell')
    expect(run(['a', 'a2@p-a', 'b'], { b: abstains }, { mode: 'full' }).end.kind).toBe('cannot_tell')
  })
})

describe('retrySeats', () => {
  const rules = rulesOf({ mode: 'full', size: 3, quorum: 3 })
  const held = (roster: string[], replies: Record<string, Reply | Reply[]>) =>
    play(panelOf(roster, rules), rules, scripted(replies, four)).panel
  const retry = (panel: Panel, reply: Reply): Panel => {
    const asked = retrySeats(panel).reduce((now, data) => evolvePanel(now, { type: 'seat.asked', data }), panel)
    return asked.seats
      .filter(({ status }) => status === 'asked')
      .reduce((now, seat) => evolvePanel(now, answerOf(now, seat, reply, rules)), asked)
  }

  it('asks the unavailable seats again and leaves everything finished', () => {
    const panel = held(['a', 'b', 'c'], { b: down })
    expect(retrySeats(panel)).toEqual([{ review: 7, seat: 2, judge: 'b', principal: 'p-b', repeat: false, round: 2, because: 'retry' }])
    const back = retry(panel, four)
    expect(back.seats.map(({ status }) => status)).toEqual(['graded', 'graded', 'graded'])
    expect(back.seats[0]).toBe(panel.seats[0])
    expect(advance(back, rules)).toMatchObject({ kind: 'decide', decision: { outcome: 'pass', accepts: 3 } })
  })

  it('starts with the first judge of the seat, then takes turns with its replacement', () => {
    const panel = held(['a', 'b', 'c', 'd'], { b: down, d: down })
    expect(retrySeats(panel)).toMatchObject([{ seat: 2, judge: 'b', principal: 'p-b', round: 3 }])
    const again = retry(panel, down)
    expect(again.seats[1]?.status).toBe('unavailable')
    expect(advance(again, rules).kind).toBe('unavailable')
    expect(retrySeats(again)).toMatchObject([{ seat: 2, judge: 'd', principal: 'p-d', round: 4 }])
  })

  it('does not go back to a judge that could not be read', () => {
    const panel = held(['a', 'b', 'c', 'd'], { b: garbles, d: down })
    expect(retrySeats(panel)).toMatchObject([{ seat: 2, judge: 'd', round: 4 }])
  })

  it('keeps a seat that sits again marked so', () => {
    const alone = rulesOf({ mode: 'full', size: 2, quorum: 1 })
    const { panel } = play(panelOf(['a'], alone), alone, () => down)
    expect(retrySeats(panel).map(({ seat, repeat }) => [seat, repeat])).toEqual([
      [1, false],
      [2, true],
    ])
  })

  it('gives no second reprompt to a judge that had its one', () => {
    const panel = held(['a', 'b', 'c'], { b: [garbles, down] })
    const unread = retry(panel, garbles)
    expect(advance(unread, rules)).toEqual({ kind: 'ask', seats: [], voided: [{ review: 7, seat: 2, judge: 'b' }] })
  })

  it('asks nobody where nobody is missing', () => {
    expect(retrySeats(held(['a', 'b', 'c'], { a: abstains, b: garbles }))).toEqual([])
  })
})
