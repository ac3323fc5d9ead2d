import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PanelSettings } from '../../contract/config/review.ts'
import { advance } from './advance.ts'
import { decidePanel } from './decision.ts'
import {
  answerOf,
  dimension,
  grades,
  panelOf,
  play,
  type Played,
  type Reply,
  rulesOf,
  scripted,
  vetoBy,
} from '../../testing/panel/panel-kit.ts'
import { furtherSeats } from './seating.ts'
import { evolvePanel, type Panel, type PanelRules } from './state.ts'

/** Answers the one open seat until it is neither open nor to be asked again. */
function settleSeat(start: Panel, rules: PanelRules, script: () => Reply): Panel {
  let panel = start
  for (let step = 0; step < 9; step += 1) {
    const open = panel.seats.find(({ status }) => status === 'asked')
    if (open) panel = evolvePanel(panel, answerOf(panel, open, script(), rules))
    else if (!panel.seats.some(({ status }) => status === 'unreadable' || status === 'unreachable')) return panel
    else panel = repaired(panel, rules)
  }
  throw new Error('a seat that does not end')
}

function repaired(start: Panel, rules: PanelRules): Panel {
  const next = advance(start, rules)
  if (next.kind !== 'ask') throw new Error(next.kind)
  const voided = next.voided.reduce((panel, data) => evolvePanel(panel, { type: 'seat.voided', data }), start)
  return next.seats.reduce((panel, data) => evolvePanel(panel, { type: 'seat.asked', data }), voided)
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `j${index}`)

function asked(
  replies: (Reply | Reply[])[],
  settings: Partial<PanelSettings>,
  rest: Partial<PanelRules> = {},
  roster = names(replies.length),
) {
  const rules = rulesOf({ mode: 'curtail', ...settings }, rest)
  const script = scripted(Object.fromEntries(replies.map((reply, index) => [`j${index}`, reply])))
  const played = play(panelOf(roster, rules), rules, script)
  return { ...played, seats: played.asked.map(({ judge }) => judge).join(' ') }
}
const outcome = ({ end }: Played) => (end.kind === 'decide' ? end.decision.outcome : end.kind)
const four = grades(4)
const two = grades(2)

describe('curtail stops', () => {
  it.each<[string, Reply[], Partial<PanelSettings>, string]>([
    ['at two fours of three', [four, four, four], {}, 'j0 j1'],
    ['at two fives of three', [grades(5), grades(5), four], {}, 'j0 j1'],
    ['at two rejections of three', [two, two, four], {}, 'j0 j1'],
    ['after the third where two disagree', [four, two, four], {}, 'j0 j1 j2'],
    ['at three accepts of five', [four, four, four, four, four], { size: 5, quorum: 3 }, 'j0 j1 j2'],
    ['not at two accepts of five', [four, four, four, four, four], { size: 5 }, 'j0 j1 j2'],
    ['at three rejections of five', [four, two, two, two, four], { size: 5 }, 'j0 j1 j2 j3'],
    ['later where the score hangs on one more seat', [four, grades(2, true), four], {}, 'j0 j1 j2'],
    ['where a third could only lower a score that is too low', [grades(2, true), grades(2, true), four], {}, 'j0 j1'],
  ])('%s', (_, replies, settings, expected) => {
    expect(asked(replies, settings).seats).toBe(expected)
  })

  it('only once a quorum is graded', () => {
    const replies: Reply[] = [four, { kind: 'abstains' }, four, four, four]
    const found = asked(replies, { size: 5, quorum: 2 })
    expect(found.seats).toBe('j0 j1 j2 j3')
    expect(found.asked.map(({ because }) => because)).toEqual(['opening', 'opening', 'escalation', 'escalation'])
    expect(outcome(found)).toBe('pass')
  })

  it('at a veto, which no score or vote can turn', () => {
    const veto = grades(2, false, { met: { AC1: { met: 'no', evidence: ['x'] } } })
    const found = asked([four, veto, four, four, four], { size: 5 })
    expect(found.seats).toBe('j0 j1')
    expect(outcome(found)).toBe('reject')
    expect(asked([four, veto, four, four, four], { size: 5, veto: 'off' }).seats).toBe('j0 j1 j2 j3')
  })

  it('though a further seat might raise a veto', () => {
    const veto = grades(2, false, { met: { AC1: { met: 'no', evidence: ['x'] } } })
    expect(outcome(asked([grades(5), grades(5), veto], {}))).toBe('pass')
  })

  it('at a veto from before that its judge upholds, and goes on where a further sitting may lift it', () => {
    const vetoes = [vetoBy('j0')]
    const unmoved = grades(4, true, { met: { AC1: 'no' } })
    const settings = { size: 5, quorum: 3 }
    expect(asked([unmoved, four, four, four], settings, { vetoes }).seats).toBe('j0 j1 j2')
    const unread: Reply[] = [{ kind: 'garbles' }, { kind: 'garbles' }, four]
    const lifting = asked([unread, four, four, four], settings, { vetoes })
    expect(lifting.seats).toBe('j0 j1 j2 j0 j3 j0')
    expect(outcome(lifting)).toBe('pass')
    expect(asked([unread, four, four, four], settings).seats).toBe('j0 j1 j2 j0 j3')
    expect(asked([{ kind: 'down' }, unmoved, four, four], { size: 4 }, { vetoes }).seats).toBe('j0 j1 j2')
  })

  it('not before a judge that sits again could turn its own vote', () => {
    expect(asked([four], { size: 3 }).seats).toBe('j0 j0 j0')
    expect(asked([two], { size: 3 }).seats).toBe('j0')
  })

  it('counting votes where every score is good enough', () => {
    const low = { bar: 1 }
    expect(asked([four, four, four, four], { size: 4 }, low).seats).toBe('j0 j1 j2')
    const against = grades(4, false)
    expect(asked([four, against, against, four], { size: 4, quorum: 3 }, low).seats).toBe('j0 j1 j2')
    expect(asked([four, four, four], { size: 4, quorum: 3 }, low).seats).toBe('j0 j1 j2')
  })

  it('not while a judge that sits again could move the score', () => {
    expect(asked([four, four, grades(2, true)], { size: 4, quorum: 3 }).seats).toBe('j0 j1 j2 j0')
    expect(asked([four, four, four], { size: 4, quorum: 3 }).seats).toBe('j0 j1 j2')
  })

  it('not while one that could not tell may tell when it sits again', () => {
    const found = asked([[{ kind: 'abstains' }, four], four, grades(4, false)], { size: 4 })
    expect(found.seats).toBe('j0 j1 j2 j0')
    expect(outcome(found)).toBe('pass')
  })

  it('not while replacements could leave a seat to another agent of a principal that accepts', () => {
    const low = { bar: 1 }
    const replies = Array.from({ length: 6 }, () => four)
    expect(asked(replies, { size: 5, quorum: 3 }, low, ['j0', 'j1', 'j2', 'j3', 'j4', 'j5@p-j0']).seats).toBe('j0 j1 j2 j3')
    expect(asked(replies, { size: 5, quorum: 3 }, low, ['j0', 'j1', 'j2', 'j3', 'j4', 'j5']).seats).toBe('j0 j1 j2')
    expect(asked(replies, { size: 4, quorum: 3 }, low, ['j0', 'j1', 'j2', 'j3', 'j4@p-j0']).seats).toBe('j0 j1 j2')
  })

  it('later where a text judge may score between the levels', () => {
    const replies = [grades(3), grades(5), four]
    expect(asked(replies, {}, { bar: 2 }).seats).toBe('j0 j1')
    expect(asked(replies, {}, { bar: 2 }, ['j0', 'j1', 'j2~']).seats).toBe('j0 j1 j2')
  })

  it('before a further agent of a principal whose vote and scores are settled', () => {
    expect(asked([two, four, four], { size: 3, quorum: 1 }, {}, ['j0', 'j1@p-j0', 'j2@p-j0']).seats).toBe('j0')
  })
})

describe('curtail and full', () => {
  const reply = fc
    .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), fc.boolean())
    .map(([a, b, accepts]) => grades([a, b], accepts))
  const text = fc.integer({ min: 0, max: 400 }).map((quarters): Reply => ({ kind: 'text', score100: String(quarters / 4) }))
  const missing = fc.constantFrom<Reply>({ kind: 'abstains' }, { kind: 'garbles' })
  const mostly = fc.oneof({ weight: 8, arbitrary: reply }, { weight: 1, arbitrary: missing })
  const settings = fc.record({
    quorum: fc.integer({ min: 1, max: 4 }),
    median: fc.constantFrom('lower' as const, 'midpoint' as const),
    outlierDistance: fc.constantFrom(0.5, 1, 1.5, 2.5),
    size: fc.integer({ min: 1, max: 6 }),
  })
  const bar = fc.constantFrom(2, 2.5, 3, 60, 3.5, 4.5)
  const rest = (at: number) => ({ bar: at, dimensions: [dimension('craft', 2), dimension('care', 3)] })

  it('come to the same when every judge grades, for every panel of three on one dimension', () => {
    let stopped = 0
    const answers = [1, 2, 3, 4, 5].flatMap((score) => [grades(score, true), grades(score, false)])
    for (const median of ['lower', 'midpoint'] as const) {
      for (const a of answers) {
        for (const b of answers) {
          const curtailed = asked([a, b, four], { median })
          if (curtailed.asked.length === 3) continue
          stopped += 1
          for (const c of answers) expect(outcome(asked([a, b, c], { median, mode: 'full' }))).toBe(outcome(curtailed))
        }
      }
    }
    expect(stopped).toBeGreaterThan(20)
  })

  it('stop no later than needed: whenever a panel of three goes on, some third answer turns it', () => {
    const answers = [1, 2, 3, 4, 5].flatMap((score) => [grades(score, true), grades(score, false)])
    let went = 0
    for (const a of answers) {
      for (const b of answers) {
        if (asked([a, b, four], {}).asked.length === 2) continue
        went += 1
        const ends = new Set([...answers, { kind: 'abstains' } as const].map((c) => outcome(asked([a, b, c], { mode: 'full' }))))
        expect([...ends].sort()).toEqual(['pass', 'reject'])
      }
    }
    expect(went).toBeGreaterThan(20)
  })

  it('come to the same for any structured panel', () => {
    fc.assert(
      fc.property(fc.array(mostly, { minLength: 6, maxLength: 6 }), settings, bar, (replies, how, at) => {
        const full = asked(replies, { ...how, mode: 'full' }, rest(at))
        fc.pre(full.end.kind === 'decide' && !full.asked.some(({ because }) => because === 'replacement'))
        expect(outcome(asked(replies, how, rest(at)))).toBe(outcome(full))
      }),
      { numRuns: 800 },
    )
  })

  it('come to the same for panels with text judges', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), reply, text), { minLength: 6, maxLength: 6 }), settings, bar, (judges, how, at) => {
        const roster = judges.map(([isText], index) => (isText ? `j${index}~` : `j${index}`))
        const replies = judges.map(([isText, structured, written]) => (isText ? written : structured))
        const full = asked(replies, { ...how, mode: 'full' }, rest(at), roster)
        expect(outcome(asked(replies, how, rest(at), roster))).toBe(outcome(full))
      }),
      { numRuns: 400 },
    )
  })

  it('come to the same where judges sit again, or share a principal', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(reply, { minLength: 3, maxLength: 3 }), { minLength: 6, maxLength: 6 }),
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 4 }),
        settings,
        bar,
        (replies, principals, how, at) => {
          const roster = principals.map((principal, index) => `j${index}@p${principal}`)
          const script = () => scripted(Object.fromEntries(replies.map((own, index) => [`j${index}`, own])))
          const run = (mode: 'full' | 'curtail') => {
            const rules = rulesOf({ ...how, mode }, rest(at))
            const { end } = play(panelOf(roster, rules), rules, script())
            return end.kind === 'decide' ? end.decision.outcome : end.kind
          }
          expect(run('curtail')).toBe(run('full'))
        },
      ),
      { numRuns: 800 },
    )
  })

  it('whatever the seats not asked would have done, replaced ones included, the decision would have been the same', () => {
    const fault = fc.constantFrom<Reply>({ kind: 'abstains' }, { kind: 'garbles' }, { kind: 'down' })
    const any = fc.oneof({ weight: 3, arbitrary: reply }, { weight: 1, arbitrary: fault })
    const roster = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 8 })
    let continued = 0
    fc.assert(
      fc.property(roster, settings, bar, fc.infiniteStream(any), (principals, how, at, replies) => {
        const rules = rulesOf({ ...how, mode: 'curtail' }, rest(at))
        const script = () => replies.next().value
        const start = panelOf(
          principals.map((principal, index) => `j${index}@p${principal}`),
          rules,
        )
        const stopped = play(start, rules, script)
        fc.pre(stopped.end.kind === 'decide')
        let { panel } = stopped
        for (let [next] = furtherSeats(panel, rules, 'escalation'); next; [next] = furtherSeats(panel, rules, 'escalation')) {
          continued += 1
          panel = settleSeat(evolvePanel(panel, { type: 'seat.asked', data: next }), rules, script)
        }
        expect(decidePanel(panel, rules).decision.outcome).toBe(outcome(stopped))
      }),
      { numRuns: 1500 },
    )
    expect(continued).toBeGreaterThan(50)
  })

  it('a curtailed panel never asks more', () => {
    fc.assert(
      fc.property(fc.array(reply, { minLength: 6, maxLength: 6 }), settings, bar, (replies, how, at) => {
        const full = asked(replies, { ...how, mode: 'full' }, rest(at))
        const curtailed = asked(replies, how, rest(at))
        expect(curtailed.asked.length).toBeLessThanOrEqual(full.asked.length)
      }),
      { numRuns: 300 },
    )
  })
})
