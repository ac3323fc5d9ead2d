import { describe, expect, it } from 'vitest'
import { type CardRequest, GateRefusal, type Submission } from '../../contract/deliverable/deliverable.ts'
import { contentOf } from '../../testing/task/steps.ts'
import { type Place, accepted, answer, lives, places, readied, rejected } from '../../testing/task/lives.ts'
import { rulesWith } from '../../testing/task/world.ts'
import { criteriaDigest, rubricDigest } from '../policy/policy.ts'
import type { TaskState } from '../task/state.ts'
import type { DeliverableState } from './deliverable.ts'
import { mayLeave, type ReleaseQuestion, type SentCard } from './release.ts'

const now = Date.parse('2026-11-16T12:00:00Z')
const later = '2026-11-17T12:00:00Z'
const earlier = '2026-11-16T11:59:59Z'

const request = (more: Partial<CardRequest> = {}): CardRequest => ({
  type: 'report_ready',
  title: 'Report',
  body: '',
  priority: 'normal',
  metadata: { deliverableId: 'r' },
  ...more,
})

/** The deliverable as it was submitted: exactly what the task was judged on. */
function deliverableOf(task: TaskState, more: Partial<Submission> = {}): DeliverableState {
  const subject = {
    content: contentOf('one').digest,
    criteria: criteriaDigest(task.spec.criteria),
    rubric: rubricDigest(task.spec.dimensions, task.spec.bar),
    policy: task.policy,
  }
  const latest: Submission = {
    submission: 1,
    kind: 'file',
    title: 'Report',
    producer: 'dev',
    task: task.spec.id,
    subject,
    snapshot: 'snapshot',
    digest: 'bytes',
    ...more,
  }
  return { deliverable: 'r', producer: 'dev', latest, bypasses: [], requests: 0 }
}

function ask(task: TaskState | undefined, more: Partial<ReleaseQuestion> = {}) {
  const deliverable = task && deliverableOf(task)
  const known = { deliverable, task, policy: task?.policy ?? '', unaccepted: undefined, loosened: undefined, sent: [] }
  return mayLeave({ request: request(), from: 'dev', card: 'c1', ...known, now, ...more })
}

const refused = (answered: ReturnType<typeof ask>) => (answered.outcome.kind === 'refused' ? answered.outcome.code : undefined)
const flag = (answered: ReturnType<typeof ask>) => (answered.outcome.kind === 'allowed' ? answered.outcome.card.flag : undefined)

const clean = () => accepted(readied(rulesWith()), 'one').state

describe('the gate', () => {
  it('lets a PASS for exactly these bytes through, with score, bar, judges and the reviewed snapshot', () => {
    const answered = ask(clean(), { digestNow: 'bytes' })
    expect(answered).toMatchObject({
      verdict: 'PASS',
      bypass: false,
      outcome: {
        kind: 'allowed',
        card: { card: 'c1', flag: 'pass', snapshot: 'snapshot', digest: 'bytes', deliverable: 'r', bar: 60, score: { on100: 80 } },
      },
    })
    expect(answered.outcome.kind === 'allowed' && answered.outcome.card.judges.length).toBeGreaterThan(0)
  })

  it.each<[Place, GateRefusal | 'pass' | 'owner-accepted']>([
    ['waiting', 'under_review'],
    ['todo', 'under_review'],
    ['running', 'under_review'],
    ['checking', 'under_review'],
    ['in_review', 'under_review'],
    ['restoring', 'under_review'],
    ['held: judge_unavailable', 'no_verdict'],
    ['held: unreadable', 'no_verdict'],
    ['held: no_reviewer', 'no_verdict'],
    ['held: budget', 'no_verdict'],
    ['held: operator', 'no_verdict'],
    ['held: exhausted_unscored', 'no_verdict'],
    ['held: escalated', 'no_verdict'],
    ['held: stale_input', 'upstream_changed'],
    ['done: clean', 'pass'],
    ['done: below-threshold', 'not_clean'],
    ['done: unreviewed', 'not_clean'],
    ['done: owner-accepted', 'owner-accepted'],
    ['failed', 'failed'],
    ['skipped', 'failed'],
  ])('of a task that is %s says %s', (place, expected) => {
    const answered = ask(lives[place]().state)
    expect(refused(answered) ?? flag(answered)).toBe(expected)
  })

  it('has an answer for every place of a task, and every refusal says what to do', () => {
    for (const place of places) {
      const { outcome } = ask(lives[place]().state)
      if (outcome.kind === 'refused') expect(outcome.message.length, place).toBeGreaterThan(20)
      else expect(['done: clean', 'done: owner-accepted']).toContain(place)
    }
  })

  it('refuses a PASS for other content, criteria, rubric or policy, each by itself', () => {
    const task = clean()
    for (const part of ['content', 'criteria', 'rubric', 'policy'] as const) {
      const deliverable = deliverableOf(task)
      deliverable.latest.subject = { ...deliverable.latest.subject, [part]: 'another' }
      expect(refused(ask(task, { deliverable })), part).toBe(
        part === 'policy' ? 'policy_changed' : part === 'content' ? 'under_review' : 'no_verdict',
      )
    }
    expect(refused(ask(task, { policy: 'another' }))).toBe('policy_changed')
  })

  it('takes the owner’s word for the content that it was about, and for no other', () => {
    const task = lives['done: owner-accepted']().state
    const deliverable = deliverableOf(task)
    deliverable.latest.subject = { ...deliverable.latest.subject, content: 'another' }
    expect(refused(ask(task, { deliverable }))).toBe('under_review')
  })

  it('refuses what was swapped, what has no decision, what is unknown and what names nothing', () => {
    const task = clean()
    expect(refused(ask(task, { digestNow: 'other bytes' }))).toBe('content_changed')
    expect(refused(ask(task, { task: undefined }))).toBe('no_verdict')
    expect(refused(ask(task, { deliverable: undefined }))).toBe('deliverable_unknown')
    expect(refused(ask(task, { request: request({ metadata: {} }) }))).toBe('deliverable_missing')
  })

  it('refuses work in rework, with its verdict', () => {
    const answered = ask(rejected(readied(rulesWith()), 'one').state)
    expect(refused(answered)).toBe('needs_revision')
    expect(answered.verdict).toBe('NEEDS_REVISION')
  })

  it('refuses what rests on reopened work, whatever its own verdict', () => {
    const task = accepted(readied(rulesWith()), 'one').when({ type: 'input_reopened', task: 'mission/up' }).state
    expect(refused(ask(task))).toBe('upstream_changed')
  })

  it('refuses while a veto stands, and lets the owner’s word through', () => {
    const veto = { criterion: 'AC1', judge: 'qa', principal: 'p', review: 1, evidence: [] }
    expect(refused(ask({ ...clean(), vetoes: [veto] }))).toBe('veto_stands')
    const owner = answer(lives['held: escalated'](), 'accept').state
    expect(flag(ask({ ...owner, vetoes: [veto] }))).toBe('owner-accepted')
  })

  it('lets a verdict on an address count until its time and not after', () => {
    const task = clean()
    expect(flag(ask(task, { deliverable: deliverableOf(task, { expires: later }) }))).toBe('pass')
    expect(refused(ask(task, { deliverable: deliverableOf(task, { expires: earlier }) }))).toBe('verdict_expired')
    expect(refused(ask(task, { deliverable: deliverableOf(task, { expires: new Date(now).toISOString() }) }))).toBe('verdict_expired')
  })
})

describe('a policy that the owner has not accepted', () => {
  const unaccepted = ['review.threshold: 60 → 20']

  it('opens the gate for nothing that was decided under it, and the refusal names what differs and what to do', () => {
    const answered = ask(clean(), { unaccepted })
    expect(answered.verdict).toBe('PASS')
    expect(answered.outcome).toMatchObject({
      kind: 'refused',
      code: 'policy_not_accepted',
      message: expect.stringMatching(/review\.threshold: 60 → 20.*assay policy accept/),
    })
    expect(refused(ask(clean(), { unaccepted, from: 'runtime' }))).toBe('policy_not_accepted')
    expect(refused(ask(clean(), { unaccepted: [] }))).toBe('policy_not_accepted')
  })

  it('does not stand against the owner’s own word, and hides no other reason', () => {
    expect(flag(ask(lives['done: owner-accepted']().state, { unaccepted }))).toBe('owner-accepted')
    expect(refused(ask(rejected(readied(rulesWith()), 'one').state, { unaccepted }))).toBe('needs_revision')
  })

  it('obeys no agent that waives its own review, though one of the owner’s counts', () => {
    const task = lives['done: below-threshold']().state
    const waived = (byAgent: boolean): DeliverableState => ({
      ...deliverableOf(task),
      bypasses: [{ deliverable: 'r', digest: 'bytes', until: later, byAgent, by: 'dev', reason: 'late' }],
    })
    expect(flag(ask(task, { deliverable: waived(true) }))).toBe('bypassed')
    expect(refused(ask(task, { deliverable: waived(true), unaccepted }))).toBe('not_clean')
    expect(flag(ask(task, { deliverable: waived(false), unaccepted }))).toBe('bypassed')
  })
})

describe('a task that asks less than the policy', () => {
  const loosened = ['threshold of the task: 60 → 6']

  it('opens the gate for nothing, and the refusal names what differs and what to do', () => {
    const answered = ask(clean(), { loosened, from: 'runtime' })
    expect(answered.outcome).toMatchObject({
      kind: 'refused',
      code: 'policy_not_accepted',
      message: expect.stringMatching(/threshold of the task: 60 → 6.*assay bypass r --reason/),
    })
  })

  it('does not stand against the owner’s own word or bypass, and hides no other reason', () => {
    expect(flag(ask(lives['done: owner-accepted']().state, { loosened }))).toBe('owner-accepted')
    expect(refused(ask(rejected(readied(rulesWith()), 'one').state, { loosened }))).toBe('needs_revision')
    const bypasses = [{ deliverable: 'r', digest: 'bytes', until: later, byAgent: false, by: 'ann', reason: 'late' }]
    expect(flag(ask(clean(), { loosened, deliverable: { ...deliverableOf(clean()), bypasses } }))).toBe('bypassed')
  })
})

describe('what was sent before', () => {
  const card = (state: SentCard['state'], more: Partial<SentCard> = {}): SentCard => ({
    card: 'c0',
    digest: 'bytes',
    flag: 'pass',
    task: clean().spec.id,
    state,
    ...more,
  })

  it('is not sent again while its card is pending or after the owner dismissed it', () => {
    for (const state of ['pending', 'dismissed'] as const)
      expect(ask(clean(), { sent: [card(state)] }).outcome, state).toMatchObject({
        kind: 'refused',
        code: 'already_sent',
        message: expect.stringContaining('c0'),
      })
  })

  it('is sent again where its card was dealt with or expired, as something else, or by the runtime', () => {
    for (const sent of [card('handled'), card('expired'), card('pending', { digest: 'x' }), card('pending', { flag: 'bypassed' })])
      expect(flag(ask(clean(), { sent: [sent] })), JSON.stringify(sent)).toBe('pass')
    expect(flag(ask(clean(), { sent: [card('dismissed', { task: 'm/another' })] }))).toBe('pass')
    expect(flag(ask(clean(), { sent: [card('pending')], from: 'runtime' }))).toBe('pass')
  })
})

describe('an id that the owner took away', () => {
  it('hands nothing over until somebody brings something under it', () => {
    const freed = { ...deliverableOf(clean()), freed: { by: 'eve', reason: 'squatted' } }
    expect(refused(ask(clean(), { deliverable: freed }))).toBe('deliverable_unknown')
    expect(refused(ask(clean(), { deliverable: freed, from: 'runtime' }))).toBe('deliverable_unknown')
  })
})

describe('a card of another type', () => {
  it('carries no deliverable', () => {
    for (const type of ['milestone', 'trace'] as const) {
      expect(refused(ask(clean(), { request: request({ type }) })), type).toBe('cannot_carry_deliverable')
      const plain = ask(undefined, { request: request({ type, metadata: {} }) })
      expect(plain.outcome).toMatchObject({ kind: 'allowed', card: { type, from: 'dev', judges: [] } })
      expect(flag(plain)).toBeUndefined()
    }
  })

  it('of the runtime is refused to everybody else', () => {
    for (const type of ['operator_request', 'error_alert'] as const) {
      expect(refused(ask(undefined, { request: request({ type, metadata: {} }) }))).toBe('type_reserved')
      expect(ask(undefined, { from: 'runtime', request: request({ type, metadata: {} }) }).outcome.kind).toBe('allowed')
    }
  })
})

describe('a bypass', () => {
  const waived = (task: TaskState, digest: string, until: string): DeliverableState => ({
    ...deliverableOf(task),
    bypasses: [{ deliverable: 'r', digest, until, byAgent: false, by: 'eve', reason: 'urgent' }],
  })

  it('opens the gate for its bytes and its time, and marks the card', () => {
    const task = lives['done: below-threshold']().state
    const answered = ask(task, { deliverable: waived(task, 'bytes', later), digestNow: 'bytes' })
    expect(answered).toMatchObject({
      bypass: true,
      outcome: { kind: 'allowed', card: { flag: 'bypassed', bypass: { by: 'eve', reason: 'urgent' } } },
    })
    expect(refused(ask(task, { deliverable: waived(task, 'other bytes', later) }))).toBe('not_clean')
    expect(refused(ask(task, { deliverable: waived(task, 'bytes', earlier) }))).toBe('not_clean')
    expect(refused(ask(task, { deliverable: waived(task, 'bytes', later), digestNow: 'swapped' }))).toBe('content_changed')
  })

  it('stays in force for its bytes when they lie there again, though a later version failed', () => {
    const task = lives.failed().state
    const version = { ...deliverableOf(task).latest, submission: 1, snapshot: 'first', digest: 'bytes' }
    const deliverable: DeliverableState = {
      ...deliverableOf(task, { submission: 2, snapshot: 'second', digest: 'later bytes' }),
      bypasses: [{ deliverable: 'r', digest: 'bytes', until: later, byAgent: false, by: 'eve', reason: 'urgent', version }],
    }
    expect(ask(task, { deliverable, digestNow: 'bytes' }).outcome).toMatchObject({
      kind: 'allowed',
      card: { flag: 'bypassed', digest: 'bytes', snapshot: 'first', bypass: { by: 'eve' } },
    })
    expect(refused(ask(task, { deliverable, digestNow: 'later bytes' }))).toBe('failed')
    expect(refused(ask(task, { deliverable, digestNow: 'third bytes' }))).toBe('content_changed')
    expect(refused(ask(task, { deliverable, digestNow: 'bytes', now: Date.parse(later) }))).toBe('content_changed')
  })

  it('marks nothing that passes by itself', () => {
    const task = clean()
    expect(flag(ask(task, { deliverable: waived(task, 'bytes', later) }))).toBe('pass')
  })

  it('asked for by an agent is refused, and said to be', () => {
    const task = lives['done: below-threshold']().state
    const answered = ask(task, { request: request({ metadata: { deliverableId: 'r', evaluatorBypass: true } }) })
    expect(refused(answered)).toBe('bypass_refused')
    expect(answered.bypass).toBe(true)
  })
})

it('every refusal there is was seen above', () => {
  const task = clean()
  const bare = { request: request({ metadata: {} }) }
  const codes = [
    ...places.map((place) => refused(ask(lives[place]().state))),
    refused(ask(rejected(readied(rulesWith()), 'one').state)),
    refused(ask(task, { digestNow: 'x' })),
    refused(ask(task, { policy: 'x' })),
    refused(ask(task, { deliverable: undefined })),
    refused(ask(task, { unaccepted: [] })),
    refused(ask(task, { sent: [{ card: 'c0', digest: 'bytes', flag: 'pass', task: task.spec.id, state: 'pending' }] })),
    refused(ask(task, bare)),
    refused(ask(task, { request: request({ type: 'milestone' }) })),
    refused(ask(task, { request: request({ type: 'error_alert' }) })),
    refused(ask(task, { deliverable: deliverableOf(task, { expires: earlier }) })),
    refused(ask({ ...task, vetoes: [{ criterion: 'AC1', judge: 'qa', principal: 'p', review: 1, evidence: [] }] })),
    refused(
      ask(undefined, { deliverable: deliverableOf(task), request: request({ metadata: { deliverableId: 'r', evaluatorBypass: true } }) }),
    ),
  ]
  expect(new Set(codes.filter((code) => code !== undefined))).toEqual(new Set(GateRefusal.options))
})
