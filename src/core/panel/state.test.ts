import { describe, expect, it } from 'vitest'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import { answerOf, type Asked, eligible, grades, openedWith, panelOf, rulesOf, sittingFrom } from '../../testing/panel/panel-kit.ts'
import {
  askedJudges,
  evolvePanel,
  gradedPrincipals,
  gradedSittings,
  mayBeReplaced,
  openPanel,
  type Panel,
  unaskedPrincipals,
} from './state.ts'

const rules = rulesOf()
const ask = (seat: number, judge: string, over: Partial<Asked> = {}): AssayEvent => ({
  type: 'seat.asked',
  data: { review: 7, seat, judge, principal: `p-${judge}`, repeat: false, round: 1, because: 'opening', ...over },
})
const after = (panel: Panel, ...events: AssayEvent[]) => events.reduce(evolvePanel, panel)
const seat = (panel: Panel, number = 1) => panel.seats.find((one) => one.seat === number)!
const down = (number: number, judge: string, round = 1): AssayEvent => ({
  type: 'judge.unavailable',
  data: { review: 7, seat: number, judge, round, detail: `${judge} is down` },
})
const garbled = (number: number, judge: string, round = 1): AssayEvent => ({
  type: 'task.eval.unparsed',
  data: { review: 7, seat: number, judge, round, reason: `${judge} made no sense`, raw: '?' },
})
const graded = (number: number, judge: string, round = 1): AssayEvent => ({
  type: 'verdict.recorded',
  data: { review: 7, round, sitting: sittingFrom({ seat: number, judge, principal: `p-${judge}` }, grades(4), rules), raw: '{}' },
})

describe('openPanel', () => {
  it('takes what the review opened with; nobody sits yet', () => {
    const opened = openedWith(['a', 'b~'], rules, { points: [{ ref: 'P1', source: 'judge', from: 'a', text: 't' }], warnings: ['w'] })
    const { warnings: _w, suspicions: _s, ...rest } = opened
    expect(openPanel(opened)).toEqual({ ...rest, suspicious: false, seats: [] })
    expect(openPanel({ ...opened, suspicions: ['talks to the reviewer'] }).suspicious).toBe(true)
  })
})

describe('evolvePanel', () => {
  const start = panelOf(['a', 'b', 'c~'], rules)
  const one = after(start, ask(1, 'a'))

  it('seats whom it asks, with the form of the roster', () => {
    expect(seat(one)).toEqual({
      seat: 1,
      judge: 'a',
      principal: 'p-a',
      repeat: false,
      form: 'structured',
      round: 1,
      status: 'asked',
      because: 'opening',
      unreadable: 0,
      replaced: [],
      unreachable: [],
    })
    const two = after(one, ask(2, 'c', { repeat: true, because: 'escalation' }))
    expect(seat(two, 2)).toMatchObject({ judge: 'c', form: 'text', repeat: true, because: 'escalation' })
    expect(seat(two, 1)).toBe(seat(one))
    expect(seat(after(start, ask(1, 'stranger'))).form).toBe('structured')
  })

  it.each(['graded', 'abstained'] as const)('records a sitting that was %s', (outcome) => {
    const event = answerOf(one, seat(one), outcome === 'graded' ? grades(4) : { kind: 'abstains' }, rules)
    const panel = after(one, event)
    expect(seat(panel)).toMatchObject({ status: outcome, sitting: { judge: 'a', outcome } })
  })

  it('counts unreadable replies of one judge, and starts again with another', () => {
    const first = after(one, garbled(1, 'a'))
    expect(seat(first)).toMatchObject({ status: 'unreadable', unreadable: 1, problem: 'a made no sense' })
    const second = after(first, ask(1, 'a', { round: 2, because: 'reprompt' }))
    expect(seat(second)).toMatchObject({ status: 'asked', unreadable: 1, round: 2, replaced: [] })
    expect(seat(second)).not.toHaveProperty('problem')
    expect(seat(after(first, ask(1, 'a', { round: 2, because: 'reprompt', complaint: 'no JSON' })))).toMatchObject({ problem: 'no JSON' })
    const third = after(second, garbled(1, 'a', 2))
    expect(seat(third)).toMatchObject({ status: 'unreadable', unreadable: 2 })
    const other = after(third, ask(1, 'b', { round: 3, because: 'replacement' }))
    expect(seat(other)).toMatchObject({ judge: 'b', principal: 'p-b', status: 'asked', unreadable: 0, replaced: ['a'], round: 3 })
    expect(other.seats).toHaveLength(1)
  })

  it('voids an unreadable seat, of that judge alone', () => {
    const unread = after(one, garbled(1, 'a'))
    const voided = (data: { review: number; seat: number; judge: string }): AssayEvent => ({ type: 'seat.voided', data })
    expect(seat(after(unread, voided({ review: 7, seat: 1, judge: 'a' }))).status).toBe('void')
    for (const wrong of [{ review: 8 }, { seat: 2 }, { judge: 'b' }]) {
      expect(after(unread, voided({ review: 7, seat: 1, judge: 'a', ...wrong }))).toBe(unread)
    }
    expect(after(one, voided({ review: 7, seat: 1, judge: 'a' }))).toBe(one)
  })

  it('leaves a judge that cannot be reached waiting for a replacement while there is one', () => {
    const panel = after(one, down(1, 'a'))
    expect(seat(panel)).toMatchObject({ status: 'unreachable', unreachable: ['a'], problem: 'a is down' })
  })

  it('calls the seat unavailable once nobody is left', () => {
    const both = after(one, ask(2, 'b'), down(1, 'a'), down(2, 'b'))
    expect(both.seats.map(({ status }) => status)).toEqual(['unreachable', 'unreachable'])
    const replaced = after(both, ask(1, 'c', { round: 2, because: 'replacement' }))
    expect(replaced.seats.map(({ status }) => status)).toEqual(['asked', 'unavailable'])
    expect(seat(after(replaced, down(1, 'c', 2)))).toMatchObject({ status: 'unavailable', unreachable: ['a', 'c'], replaced: ['a'] })
  })

  it('does not replace a seat twice, though somebody is left', () => {
    const wide = panelOf(['a', 'b', 'c', 'd'], rules)
    const panel = after(wide, ask(1, 'a'), down(1, 'a'), ask(1, 'b', { round: 2, because: 'replacement' }), down(1, 'b', 2))
    expect(seat(panel).status).toBe('unavailable')
  })

  it('forgets that a judge could not be reached once it answers', () => {
    const lone = panelOf(['a'], rules)
    const retried = after(lone, ask(1, 'a'), down(1, 'a'), ask(1, 'a', { round: 2, because: 'retry' }))
    expect(seat(retried)).toMatchObject({ status: 'asked', unreachable: ['a'], replaced: [] })
    expect(seat(after(retried, graded(1, 'a', 2)))).toMatchObject({ status: 'graded', unreachable: [] })
    expect(seat(after(retried, garbled(1, 'a', 2)))).toMatchObject({ status: 'unreadable', unreachable: [] })
    expect(seat(after(retried, down(1, 'a', 2))).unreachable).toEqual(['a'])
  })

  it('keeps who was tried when a retry goes back to an earlier judge', () => {
    const pair = panelOf(['a', 'b'], rules)
    const replaced = after(pair, ask(1, 'a'), down(1, 'a'), ask(1, 'b', { round: 2, because: 'replacement' }), down(1, 'b', 2))
    const back = after(replaced, ask(1, 'a', { round: 3, because: 'retry' }), down(1, 'a', 3))
    expect(seat(back)).toMatchObject({ judge: 'a', replaced: ['a', 'b'], unreachable: ['b', 'a'], status: 'unavailable' })
    const forth = after(back, ask(1, 'b', { round: 4, because: 'retry' }))
    expect(seat(forth)).toMatchObject({ judge: 'b', replaced: ['a', 'b'] })
  })

  it.each<[string, AssayEvent]>([
    ['another review’s ask', ask(1, 'b', { review: 8 })],
    ['a verdict for another round', graded(1, 'a', 2)],
    ['a verdict of another judge', graded(1, 'b')],
    ['a verdict at another seat', graded(2, 'a')],
    [
      'an unreadable reply of another review',
      { type: 'task.eval.unparsed', data: { review: 8, seat: 1, judge: 'a', round: 1, reason: '', raw: '' } },
    ],
    ['another review’s outage', { type: 'judge.unavailable', data: { review: 6, seat: 1, judge: 'a', round: 1, detail: '' } }],
    ['something else', { type: 'worker.reminded', data: { attempt: 1 } }],
  ])('is not moved by %s', (_, event) => {
    expect(after(one, event)).toBe(one)
  })

  it('takes one answer per round', () => {
    const done = after(one, graded(1, 'a'))
    expect(after(done, graded(1, 'a'))).toBe(done)
    expect(after(done, garbled(1, 'a'))).toBe(done)
    expect(after(done, down(1, 'a'))).toBe(done)
  })

  it('changes nothing in place', () => {
    const frozen = structuredClone(one)
    after(one, garbled(1, 'a'), ask(1, 'b', { round: 2 }), graded(1, 'b', 2))
    expect(one).toEqual(frozen)
  })
})

describe('who was asked', () => {
  const start = panelOf(['a', 'a2@p-a', 'b', 'c', 'c2@p-c'], rules)
  const panel = after(start, ask(1, 'a'), garbled(1, 'a'), ask(1, 'b', { round: 2, because: 'replacement' }))

  it('counts those replaced', () => {
    expect([...askedJudges(panel)]).toEqual(['b', 'a'])
    expect(mayBeReplaced(seat(panel))).toBe(false)
    expect(mayBeReplaced(seat(after(start, ask(1, 'a'))))).toBe(true)
  })

  it('leaves those whose principal has not been asked', () => {
    expect(unaskedPrincipals(start).map(({ judge }) => judge)).toEqual(['a', 'a2', 'b', 'c', 'c2'])
    expect(unaskedPrincipals(panel).map(({ judge }) => judge)).toEqual(['c', 'c2'])
    expect(unaskedPrincipals(panel, [eligible('c2@p-c'), eligible('a2@p-a')]).map(({ judge }) => judge)).toEqual(['c2'])
  })
})

describe('what counts', () => {
  it('is graded sittings, by principal', () => {
    const start = panelOf(['a', 'b', 'c'], rules)
    const asked = after(start, ask(1, 'a'), ask(2, 'b'), ask(3, 'a', { repeat: true }), ask(4, 'c'))
    const panel = after(asked, graded(1, 'a'), graded(3, 'a'), answerOf(asked, seat(asked, 2), { kind: 'abstains' }, rules))
    expect(gradedSittings(panel).map((sitting) => sitting.seat)).toEqual([1, 3])
    expect(gradedPrincipals(panel)).toBe(1)
    expect(gradedPrincipals(after(panel, graded(4, 'c')))).toBe(2)
  })
})
