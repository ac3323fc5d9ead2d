import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Decision, type Veto } from '../../contract/review.ts'
import { compare } from '../score/exact.ts'
import { barOf, exactOf } from '../score/score.ts'
import { decidePanel } from './decision.ts'
import { dimension, grades, panelOf, play, type Reply, rulesOf, sittingFrom, vetoBy } from '../../testing/panel/panel-kit.ts'
import { evolvePanel, gradedPrincipals, type Panel, type PanelRules } from './state.ts'

/** Rules of SPEC §5 and §7 that must hold for every panel, whatever its judges and the network do. */

const score = fc.integer({ min: 1, max: 5 })
const met = fc.constantFrom<'yes' | { met: 'no'; evidence: string[] }>(
  'yes',
  'yes',
  'yes',
  { met: 'no', evidence: ['x:1'] },
  { met: 'no', evidence: ['x:1?'] },
)
const verdict = fc
  .record({ a: score, b: score, accepts: fc.boolean(), hard: met, leans: fc.boolean() })
  .map(({ a, b, accepts, hard, leans }) =>
    grades([a, b], accepts && hard === 'yes', { met: { AC1: hard }, words: { leansOnUnresolved: leans } }),
  )
const text = fc.integer({ min: 0, max: 10000 }).map((hundredths): Reply => ({ kind: 'text', score100: (hundredths / 100).toFixed(2) }))
const fault = fc.constantFrom<Reply>({ kind: 'abstains' }, { kind: 'garbles' }, { kind: 'down' })
const anyReply = fc.oneof({ weight: 5, arbitrary: verdict }, { weight: 2, arbitrary: text }, { weight: 3, arbitrary: fault })
const veto = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom('AC1', 'AC3'))
  .map(([judge, criterion]) => vetoBy(`j${judge}`, criterion, { principal: `p${judge}` }))
const rules = fc
  .record({
    size: fc.integer({ min: 1, max: 6 }),
    quorum: fc.integer({ min: 1, max: 5 }),
    mode: fc.constantFrom('escalate' as const, 'full' as const, 'curtail' as const),
    outlierDistance: fc.constantFrom(0.5, 1, 1.5, 3),
    median: fc.constantFrom('lower' as const, 'midpoint' as const),
    veto: fc.constantFrom('evidence' as const, 'evidence' as const, 'off' as const),
  })
  .chain((settings) =>
    fc
      .record({ bar: fc.constantFrom(1, 2.5, 3, 60, 3.4, 75, 5), vetoes: fc.uniqueArray(veto, { maxLength: 2, selector: JSON.stringify }) })
      .map((rest) => rulesOf(settings, { ...rest, dimensions: [dimension('craft', 0.35), dimension('care', 0.2)] })),
  )
const roster = fc
  .array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 8 })
  .map((principals) => principals.map((principal, index) => `j${index}@p${principal}`))
const review = fc.record({
  rules,
  roster,
  suspicions: fc.constantFrom<string[]>([], [], ['hm']),
  replies: fc.infiniteStream(anyReply),
  picks: fc.infiniteStream(fc.nat(5)),
})

function sit({
  rules: by,
  roster: judges,
  suspicions,
  replies,
  picks,
}: {
  rules: PanelRules
  roster: string[]
  suspicions: string[]
  replies: IterableIterator<Reply>
  picks: IterableIterator<number>
}) {
  const start = panelOf(judges, by, { suspicions })
  return play(
    start,
    by,
    () => replies.next().value as Reply,
    (open) => (picks.next().value as number) % open,
  )
}

describe('every panel', () => {
  it('ends as specified, whatever happens to it', () => {
    const seen = new Map<string, number>()
    fc.assert(
      fc.property(review, (given) => {
        const { end, panel } = sit(given)
        seen.set(end.kind, (seen.get(end.kind) ?? 0) + 1)
        const statuses = new Set(panel.seats.map(({ status }) => status))
        const quorate = gradedPrincipals(panel) >= panel.quorum
        const expected = quorate
          ? 'decide'
          : statuses.has('unavailable')
            ? 'unavailable'
            : statuses.has('void')
              ? 'unreadable'
              : 'cannot_tell'
        expect(end.kind).toBe(expected)
        for (const status of statuses) expect(['graded', 'abstained', 'void', 'unavailable']).toContain(status)
        if (end.kind === 'unavailable') return
        expect(Decision.parse(end.decision)).toEqual(end.decision)
        expect(end.decision.graded).toBe(end.kind === 'decide')
        expect(end.decision.parse_failed).toBe(end.kind === 'unreadable')
        if (end.kind !== 'decide') expect(end.decision).toMatchObject({ outcome: 'reject' })
      }),
      { numRuns: 800 },
    )
    expect([...seen.keys()].sort()).toEqual(['cannot_tell', 'decide', 'unavailable', 'unreadable'])
  })

  it('passes only with quorum, bar, strict majority of principals and no veto; what gave no grade never counts', () => {
    let passed = 0
    fc.assert(
      fc.property(review, (given) => {
        const { end, panel } = sit(given)
        if (end.kind !== 'decide') return
        const { decision } = end
        const graded = panel.seats.filter(({ status }) => status === 'graded')
        const principals = Map.groupBy(graded, ({ principal }) => principal)
        const accepting = [...principals.values()].filter((seats) => seats.every(({ sitting }) => sitting?.accepts)).length
        expect(decision.accepts).toBe(accepting)
        expect(decision.accepts + decision.rejects).toBe(principals.size)
        const reached = compare(exactOf(decision.score!), barOf(given.rules.bar)) >= 0
        const carried = principals.size >= panel.quorum && reached && accepting * 2 > principals.size && decision.vetoes.length === 0
        expect(decision.outcome).toBe(carried ? 'pass' : 'reject')
        const passes = decision.outcome === 'pass'
        passed += passes ? 1 : 0
        expect(decision.category === null).toBe(passes)
        expect(decision.points.length > 0).toBe(!passes)
        expect(decision.concern).not.toBe('')
        expect(decision.dissent).toHaveLength(graded.filter(({ sitting }) => sitting?.accepts !== passes).length)
      }),
      { numRuns: 800 },
    )
    expect(passed).toBeGreaterThan(20)
  })

  it('never loses a veto: each hard `no` with found evidence stands, and one from before goes only by a lift', () => {
    let blocked = 0
    fc.assert(
      fc.property(review, (given) => {
        const { end, panel } = sit(given)
        if (end.kind !== 'decide' || given.rules.settings.veto === 'off') return
        const { decision, lifted } = end
        for (const { sitting } of panel.seats) {
          const raises =
            sitting?.outcome === 'graded' &&
            sitting.verdict?.criteria.some(({ met: answer, evidence }) => answer === 'no' && evidence.includes('x:1'))
          if (!raises) continue
          blocked += 1
          expect(decision.outcome).toBe('reject')
          expect(decision.vetoes.some(({ criterion, principal }) => criterion === 'AC1' && principal === sitting.principal)).toBe(true)
        }
        for (const old of given.rules.vetoes) {
          const isLifted = lifted.some((lift) => lift.criterion === old.criterion && lift.principal === old.principal)
          expect(decision.vetoes.some((now) => now.criterion === old.criterion && now.principal === old.principal)).toBe(!isLifted)
        }
        const keys = decision.vetoes.map(({ criterion, principal }) => `${criterion} ${principal}`)
        expect(new Set(keys).size).toBe(keys.length)
      }),
      { numRuns: 600 },
    )
    expect(blocked).toBeGreaterThan(20)
  })

  it('keeps to its size: one first call a seat, at most one reprompt a judge, at most one replacement a seat', () => {
    fc.assert(
      fc.property(review, (given) => {
        const { asked, panel } = sit(given)
        expect(panel.seats.length).toBeLessThanOrEqual(panel.size)
        for (const seat of panel.seats) {
          const here = asked.filter((call) => call.seat === seat.seat)
          expect(here.map(({ round }) => round)).toEqual(here.map((_, index) => index + 1))
          expect(here.filter(({ because }) => because === 'replacement').length).toBeLessThanOrEqual(1)
          for (const [, own] of Map.groupBy(here, ({ judge }) => judge)) {
            expect(own.filter(({ because }) => because === 'reprompt').length).toBeLessThanOrEqual(1)
          }
        }
        const first = asked.filter(({ because }) => because !== 'reprompt')
        const replacements = first.filter(({ because }) => because === 'replacement')
        expect(first.length).toBeLessThanOrEqual(panel.size + replacements.length)
        for (const { judge, principal } of replacements) {
          expect(first.filter((call) => call.judge === judge && !call.repeat)).toHaveLength(1)
          const earlier = first.slice(
            0,
            first.findIndex((call) => call.judge === judge && call.because === 'replacement'),
          )
          expect(earlier.some((call) => call.principal === principal)).toBe(false)
        }
        const agents = first.filter(({ repeat }) => !repeat).map(({ judge }) => judge)
        expect(new Set(agents).size).toBe(agents.length)
        if (given.rules.settings.mode === 'full' || panel.suspicious) expect(panel.seats).toHaveLength(panel.size)
      }),
      { numRuns: 600 },
    )
  })

  it('says of every seat either a grade or why there is none', () => {
    fc.assert(
      fc.property(review, (given) => {
        const { end, panel } = sit(given)
        if (end.kind === 'unavailable') return
        const graded = panel.seats.filter(({ status }) => status === 'graded').map(({ seat }) => seat)
        const missing = end.decision.missing.map(({ seat }) => seat)
        expect(new Set([...graded, ...missing]).size).toBe(graded.length + missing.length)
        expect(panel.seats.every(({ seat }) => graded.includes(seat) || missing.includes(seat))).toBe(true)
        expect(graded.length + missing.length).toBeLessThanOrEqual(panel.size)
      }),
      { numRuns: 600 },
    )
  })
})

/** A panel of finished sittings, one seat each. */
function finished(sittings: readonly { principal: string; reply: Reply }[], by: PanelRules, quorum = 1): Panel {
  const names = sittings.map(({ principal }, index) => `j${index}@${principal}`)
  const start = { ...panelOf(names, by), quorum, size: sittings.length }
  return sittings.reduce((panel, { principal, reply }, index) => {
    const place = { seat: index + 1, judge: `j${index}`, principal }
    const asked = evolvePanel(panel, { type: 'seat.asked', data: { review: 7, ...place, repeat: false, round: 1, because: 'opening' } })
    return evolvePanel(asked, { type: 'verdict.recorded', data: { review: 7, round: 1, sitting: sittingFrom(place, reply, by), raw: '' } })
  }, start)
}
const graded = fc.array(fc.record({ principal: fc.constantFrom('p0', 'p1', 'p2', 'p3', 'p4'), reply: fc.oneof(verdict, text) }), {
  minLength: 1,
  maxLength: 7,
})
const essence = (panel: Panel, by: PanelRules) => {
  const { outcome, score: global, dimensions, accepts, rejects, category, pointers, vetoes } = decidePanel(panel, by).decision
  const seen = (one: Veto) => `${one.criterion} ${one.principal}`
  return {
    outcome,
    global,
    scores: dimensions.map((one) => one.score),
    accepts,
    rejects,
    category,
    pointers,
    vetoes: vetoes.map(seen).sort(),
  }
}

describe('a decision', () => {
  it('does not depend on who sat where', () => {
    fc.assert(
      fc.property(
        rules,
        graded.chain((sittings) => fc.tuple(fc.constant(sittings), fc.shuffledSubarray(sittings, { minLength: sittings.length }))),
        (by, [sittings, shuffled]) => {
          expect(essence(finished(shuffled, by), by)).toEqual(essence(finished(sittings, by), by))
        },
      ),
      { numRuns: 600 },
    )
  })

  it('is not turned by a principal that repeats itself', () => {
    fc.assert(
      fc.property(rules, graded, fc.nat(6), (by, sittings, which) => {
        const distinct = sittings.map(({ reply }, index) => ({ principal: `own${index}`, reply }))
        const again = distinct[which % distinct.length]!
        const { pointers: _p, category: _c, ...once } = essence(finished(distinct, by), by)
        expect(essence(finished([...distinct, again, again], by), by)).toMatchObject(once)
      }),
      { numRuns: 500 },
    )
  })

  it('is not turned to a pass by one more principal that rejects and scores nothing higher than the others', () => {
    let rejected = 0
    fc.assert(
      fc.property(rules, graded, (by, sittings) => {
        const before = decidePanel(finished(sittings, by), by).decision
        fc.pre(before.outcome === 'reject')
        rejected += 1
        const worse = [...sittings, { principal: 'newcomer', reply: { kind: 'text', score100: '0' } as const }]
        expect(decidePanel(finished(worse, by), by).decision.outcome).toBe('reject')
      }),
      { numRuns: 600 },
    )
    expect(rejected).toBeGreaterThan(20)
  })

  it('needs its quorum of principals, however often they sit', () => {
    fc.assert(
      fc.property(rules, graded, (by, sittings) => {
        const principals = new Set(sittings.map(({ principal }) => principal)).size
        expect(decidePanel(finished(sittings, by, principals + 1), by).decision.outcome).toBe('reject')
      }),
    )
  })

  it('of unanimous threes passes a bar of 3.0, or 60, with any weights', () => {
    const weight = fc.double({ min: 1e-6, max: 1e6, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(weight, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(3, 60),
        fc.integer({ min: 1, max: 4 }),
        (weights, bar, judges) => {
          const by = rulesOf({}, { bar, dimensions: weights.map((one, index) => dimension(`d${index}`, one)) })
          const panel = finished(
            Array.from({ length: judges }, (_, index) => ({ principal: `p${index}`, reply: grades(3) })),
            by,
          )
          expect(decidePanel(panel, by).decision).toMatchObject({ outcome: 'pass', score: { exact: '3/1', on5: 3, on100: 60 } })
        },
      ),
      { numRuns: 600 },
    )
  })
})
