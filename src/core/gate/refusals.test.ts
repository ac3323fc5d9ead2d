import { describe, expect, it } from 'vitest'
import { lives, type Place, places, readied, rejected } from '../../testing/task/lives.ts'
import { rulesWith } from '../../testing/task/world.ts'
import type { TaskState } from '../task/state.ts'
import { answerBypass, type DeliverableState, evolveDeliverable, grantBypass, requestBypass } from './deliverable.ts'
import { mayLeave, type ReleaseQuestion, standing } from './release.ts'

const now = Date.parse('2026-06-01T12:00:00Z')

function deliverableOf(task: TaskState, more: Partial<DeliverableState['latest']> = {}): DeliverableState {
  const content = task.done?.content ?? 'c1'
  const subject = task.decided.at(-1)?.subject ?? { content, criteria: 'k', rubric: 'r', policy: task.policy }
  const fixed = { submission: 1, kind: 'file', title: 'Report', producer: 'dev', task: task.spec.id, snapshot: 's', digest: 'd' } as const
  return { deliverable: 'report', producer: 'dev', latest: { ...fixed, subject, ...more }, bypasses: [], requests: 0 }
}

/** A report about the work of this task; everything is in order but for what a test says. */
function question(task: TaskState = lives['done: clean']().state, more: Partial<ReleaseQuestion> = {}): ReleaseQuestion {
  const request = { type: 'report_ready', title: 'T', body: 'B', priority: 'high', metadata: { deliverableId: 'report' } } as const
  const known = {
    deliverable: deliverableOf(task),
    task,
    digestNow: 'd',
    policy: task.policy,
    unaccepted: undefined,
    loosened: undefined,
    sent: [],
  }
  return { request, from: 'dev', card: 'card-1', ...known, now, ...more }
}
function refusal(asked: ReleaseQuestion): { code: string; message: string } {
  const { outcome } = mayLeave(asked)
  return outcome.kind === 'refused' ? outcome : { code: 'allowed', message: '' }
}

describe('a report', () => {
  const refused: Partial<Record<Place, string>> = {
    'done: clean': 'allowed',
    'done: owner-accepted': 'allowed',
    'done: below-threshold': 'not_clean',
    'done: unreviewed': 'not_clean',
    failed: 'failed',
    skipped: 'failed',
    'held: stale_input': 'upstream_changed',
  }

  it.each(places)('of a task that is %s goes through only where it passed', (place) => {
    const expected = refused[place] ?? (place.startsWith('held') ? 'no_verdict' : 'under_review')
    expect(refusal(question(lives[place]().state)).code).toBe(expected)
  })

  it('is told what is missing: the concern of the judges, the cause of the hold, what was opened again, which vetoes', () => {
    const again = rejected(readied(rulesWith()), 'one').state
    const concern = again.ledger.at(-1)?.concern ?? ''
    expect(concern).toMatch(/\w/)
    expect(refusal(question(again))).toEqual({ kind: 'refused', code: 'needs_revision', message: expect.stringContaining(concern) })
    expect(refusal(question(lives['held: budget']().state)).message).toContain('the money is spent')
    const clean = lives['done: clean']().state
    expect(refusal(question({ ...clean, staleInputs: ['m/up', 'm/other'] }))).toMatchObject({
      code: 'upstream_changed',
      message: expect.stringContaining('m/up, m/other'),
    })
    const veto = (criterion: string) => ({ criterion, judge: 'qa', principal: 'p', review: 1, evidence: [] })
    expect(refusal(question({ ...clean, vetoes: [veto('AC1'), veto('AC2')] }))).toMatchObject({
      code: 'veto_stands',
      message: expect.stringContaining('AC1, AC2'),
    })
    expect(refusal(question(undefined, { task: undefined }))).toMatchObject({
      code: 'no_verdict',
      message: expect.stringContaining('--deliverable report'),
    })
    expect(refusal(question(undefined, { deliverable: undefined })).message).toContain('--deliverable report')
  })

  it('needs a PASS under the policy in force, of the deliverable and of its task', () => {
    const task = lives['done: clean']().state
    expect(refusal(question(task, { policy: 'other' })).code).toBe('policy_changed')
    expect(refusal(question({ ...task, policy: 'older' }, { policy: task.policy, deliverable: deliverableOf(task) })).code).toBe(
      'policy_changed',
    )
    const { subject } = deliverableOf(task).latest
    const older = deliverableOf(task, { subject: { ...subject, policy: 'older' } })
    expect(refusal(question(task, { deliverable: older })).code).toBe('policy_changed')
  })

  it('needs a graded PASS for exactly its criteria and rubric', () => {
    const task = lives['done: clean']().state
    const { subject } = deliverableOf(task).latest
    for (const part of ['criteria', 'rubric']) {
      const other = deliverableOf(task, { subject: { ...subject, [part]: 'other' } })
      expect(refusal(question(task, { deliverable: other })).code).toBe('no_verdict')
    }
    for (const change of [{ graded: false }, { outcome: 'reject' as const }]) {
      const decided = task.decided.map((one) => ({ ...one, decision: { ...one.decision, ...change } }))
      expect(refusal(question({ ...task, decided })).code).toBe('no_verdict')
    }
  })

  it('is refused once its verdict has expired, or its bytes have changed, with the place that it was taken from', () => {
    const task = lives['done: clean']().state
    const until = (expires: string, source?: string) =>
      refusal(question(task, { deliverable: deliverableOf(task, { expires, ...(source !== undefined && { source }) }) }))
    expect(until('2026-06-01T12:00:00.001Z').code).toBe('allowed')
    expect(until('2026-06-01T12:00:00Z', 'https://x.example')).toMatchObject({
      code: 'verdict_expired',
      message: expect.stringContaining('https://x.example'),
    })
    expect(until('2026-06-01T12:00:00Z').message).toContain('report')
    const changed = (source?: string) =>
      refusal(question(task, { digestNow: 'other', deliverable: deliverableOf(task, { ...(source !== undefined && { source }) }) }))
    expect(changed('out/report.md')).toMatchObject({ code: 'content_changed', message: expect.stringContaining('out/report.md') })
    expect(changed().message).toContain('report')
  })

  it('goes through on a waiver for its bytes until the moment that it ends', () => {
    const task = lives.failed().state
    const waived = (until: string) => {
      const waiver = { deliverable: 'report', digest: 'd', until, byAgent: false, by: 'owner', reason: 'must' }
      return refusal(question(task, { deliverable: { ...deliverableOf(task), bypasses: [waiver] } })).code
    }
    expect(waived('2026-06-01T12:00:00.001Z')).toBe('allowed')
    expect(waived('2026-06-01T12:00:00Z')).toBe('failed')
  })
})

describe('how work stands on a card', () => {
  it('is by exactly its content; where no decision has a score, the one that the task ended with', () => {
    const task = lives['done: clean']().state
    const content = task.done?.content ?? null
    expect(standing(task, content)).toMatchObject({ bar: 60, score: task.done?.score })
    expect(standing(task, content).judges.length).toBeGreaterThan(0)
    expect(standing(task, 'other')).toEqual({ bar: 60, judges: [] })
    expect(standing({ ...task, decided: [] }, content)).toEqual({ bar: 60, score: task.done?.score, judges: [] })
  })
})

describe('a bypass that an agent asks for', () => {
  const before = () => deliverableOf(lives['done: clean']().state)
  const asked = () => requestBypass(before(), 'dev', 'in a hurry').reduce(evolveDeliverable, before() as DeliverableState | undefined)
  const order = { by: 'owner', reason: 'because', until: '2027-01-01T00:00:00Z', byAgent: false }

  it('is put to the owner with everything that there is to know', () => {
    expect(requestBypass(before(), 'dev', 'in a hurry')[1]).toEqual({
      type: 'operator.requested',
      data: {
        request: 'report/bypass#1',
        kind: 'bypass_refused',
        detail: expect.stringMatching(/dev.*report.*: in a hurry$/),
        answers: ['accept', 'fail'],
      },
    })
    expect(requestBypass(before(), 'dev', '')[1]?.data).toMatchObject({ detail: expect.stringMatching(/review$/) })
  })

  it('is answered on the record, either way', () => {
    const said = (answer: 'accept' | 'fail') => {
      const result = answerBypass(asked(), { ...order, request: 'report/bypass#1', answer })
      return result.ok ? result.value : []
    }
    const answered = (answer: string) => ({
      type: 'operator.answered',
      data: { request: 'report/bypass#1', answer, by: 'owner', reason: 'because' },
    })
    expect(said('fail')).toEqual([answered('fail')])
    expect(said('accept')[0]).toEqual(answered('accept'))
    const again = answerBypass(asked(), { ...order, request: 'report/bypass#1', answer: 'retry' })
    expect(again).toMatchObject({ error: { code: 'bad_answer', message: expect.stringContaining('accept, fail') } })
    expect(grantBypass(undefined, order)).toMatchObject({ error: { code: 'not_found', message: expect.stringMatching(/\w/) } })
    expect(evolveDeliverable(undefined, answered('fail') as never)).toBeUndefined()
  })
})
