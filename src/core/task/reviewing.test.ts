import { describe, expect, it } from 'vitest'
import { digestOf } from '../../contract/canonical.ts'
import type { History } from '../../testing/task/given.ts'
import { answer, garble, lives, lose, readied, rejected } from '../../testing/task/lives.ts'
import {
  allOpine,
  attemptUpToReview,
  checks,
  contentOf,
  created,
  openSeats,
  opine,
  reply,
  start,
  submit,
  unreachable,
} from '../../testing/task/steps.ts'
import { fiveAgents, rulesWith } from '../../testing/task/world.ts'
import { criteriaDigest, rubricDigest } from '../policy/policy.ts'

const full = { panel: { mode: 'full' as const } }
const judges = (task: History) => task.state.panel?.seats.map((seat) => seat.judge)

/** The same review with another judge in its first seat: what a broken caller, or a changed organisation, could bring about. */
function seated(task: History, judge: string): History {
  const { panel } = task.state
  if (!panel) throw new Error('no review is open')
  const seats = panel.seats.map((seat) => (seat.seat === 1 ? { ...seat, judge } : seat))
  task.maybe = { ...task.state, panel: { ...panel, seats } }
  return task
}

describe('a review', () => {
  it('is bound to content, case, criteria, rubric and policy, with the nonce it was given', () => {
    const task = created(rulesWith())
    task.when(start()).when(submit(task.state, 'one'))
    task.when({ ...checks(task.state), nonce: 'nonce-of-review' } as never)
    const { spec } = task.state
    expect(task.last('review.opened')).toMatchObject({
      review: 1,
      attempt: 1,
      submission: 1,
      subject: {
        content: contentOf('one').digest,
        criteria: criteriaDigest(spec.criteria),
        rubric: rubricDigest(spec.dimensions, spec.bar),
        policy: task.rules.digest,
      },
      caseDigest: digestOf(task.state.current?.case),
      nonce: 'nonce-of-review',
      size: 3,
      quorum: 2,
      degraded: false,
      points: [],
      suspicions: [],
    })
    expect(judges(task)).toEqual(['qa', 'qa2'])
  })

  it('is led by the manager who delegated the task', () => {
    expect(judges(attemptUpToReview(created(rulesWith(), { delegatedBy: 'lead' }), 'one'))).toEqual(['lead', 'qa'])
  })

  it('is degraded where there are fewer principals than the quorum, and records what they share with the worker', () => {
    const agents = { dev: { role: 'engineer', brain: 'judge' }, qa: fiveAgents.qa as never }
    const task = attemptUpToReview(created(rulesWith({}, agents)), 'one')
    expect(task.last('review.opened')).toMatchObject({ quorum: 1, degraded: true, warnings: [expect.stringContaining('qa shares')] })
  })

  it('is as independent as the policy asks', () => {
    const agents = { dev: { role: 'engineer', brain: 'judge' }, qa: fiveAgents.qa as never }
    expect(attemptUpToReview(created(rulesWith({ independence: 'model' }, agents)), 'one').state.hold).toMatchObject({
      reason: 'no_reviewer',
      from: 'in_review',
      detail: expect.stringMatching(/qa \(shares .*\)/),
    })
  })

  it('asks every seat when worker text addresses the reviewer, the next panel too', () => {
    const task = created(rulesWith({ onUnreadable: 'rejudge' }))
    task.when(start()).when(submit(task.state, 'one'))
    task.when({ ...checks(task.state), suspicions: ['core.txt: "dear reviewer"'] } as never)
    expect(openSeats(task.state)).toEqual([1, 2, 3])
    garble(task)
    expect(task.events.filter((event) => event.type === 'review.opened').map((event) => event.data)).toMatchObject([
      { review: 1, suspicions: ['core.txt: "dear reviewer"'] },
      { review: 2, suspicions: ['core.txt: "dear reviewer"'] },
    ])
  })

  it('forgets suspicions with the submission that they were about', () => {
    const task = created(rulesWith())
    task.when(start()).when(submit(task.state, 'one'))
    allOpine(task.when({ ...checks(task.state), suspicions: ['x'] } as never), { accept: false })
    expect(openSeats(attemptUpToReview(task, 'two').state)).toEqual([1, 2])
  })
})

describe('an answer', () => {
  it('is recorded as it came, with what it cost', () => {
    const task = attemptUpToReview(created(rulesWith()), 'one')
    const usage = { inputTokens: 5, costUsd: 0.1 }
    const command = { ...opine(task.state, 1, { accept: true }), usage }
    task.when(command)
    expect(task.last('verdict.recorded')).toMatchObject({
      review: 1,
      round: 1,
      raw: command.reply.body,
      sitting: { seat: 1, judge: 'qa', accepts: true, usage },
    })
    task.when({ ...reply(task.state, 2, 'SCORE: 100'), usage })
    expect(task.last('task.eval.unparsed')).toMatchObject({
      review: 1,
      seat: 2,
      judge: 'qa2',
      round: 1,
      raw: 'SCORE: 100',
      usage,
      reason: expect.stringMatching(/\S/),
    })
    task.when({ ...unreachable(task.state, 2), usage } as never)
    expect(task.last('judge.unavailable')).toEqual({ review: 1, seat: 2, judge: 'qa2', round: 2, detail: '503', usage })
  })

  it('without a cost says nothing about it', () => {
    const task = attemptUpToReview(created(rulesWith()), 'one')
    task
      .when(opine(task.state, 1, { accept: true }))
      .when(reply(task.state, 2, '?'))
      .when(unreachable(task.state, 2))
    expect(task.last('verdict.recorded').sitting).not.toHaveProperty('usage')
    expect(task.last('task.eval.unparsed')).not.toHaveProperty('usage')
    expect(task.last('judge.unavailable')).not.toHaveProperty('usage')
  })

  it('counts only for the round that the seat was asked in', () => {
    const task = attemptUpToReview(created(rulesWith()), 'one')
    const first = opine(task.state, 1, { accept: true })
    task.when(reply(task.state, 1, '?'))
    expect(task.last('seat.asked')).toMatchObject({ seat: 1, round: 2, because: 'reprompt', complaint: expect.stringMatching(/\S/) })
    expect(task.refusal(first)).toBe('stale_seat')
    expect(task.refusal({ ...first, round: 3 })).toBe('stale_seat')
    expect(task.refusal(opine(task.state, 1, { accept: true }))).toBeUndefined()
  })

  it('is refused from anybody who had a hand in the work, whatever seat they were given', () => {
    const twin = { ...fiveAgents, twin: { ...(fiveAgents.dev as object), judges: true } as never }
    const reviewed = () => {
      const task = created(rulesWith({}, twin)).when(start())
      task
        .when({ type: 'join_attempt', attempt: 1, participant: 'qa3' })
        .when({ type: 'join_attempt', attempt: 1, participant: 'somebody outside' })
      task.when(submit(task.state, 'one'))
      return task.when(checks(task.state))
    }
    for (const author of ['dev', 'twin', 'qa3', 'somebody outside']) {
      const task = seated(reviewed(), author)
      expect(task.refusal(opine(task.state, 1, { accept: true })), author).toBe('self_review')
      expect(task.refusal(unreachable(task.state, 1)), author).toBe('self_review')
    }
    for (const other of ['qa', 'lead', 'gone']) {
      const task = seated(reviewed(), other)
      expect(task.refusal(opine(task.state, 1, { accept: true })), other).toBeUndefined()
    }
  })

  it('of a review that was closed finds nothing', () => {
    const task = attemptUpToReview(created(rulesWith()), 'one')
    const late = opine(task.state, 1, { accept: true })
    allOpine(task, { accept: true })
    expect(task.refusal(late)).toBe('stale_review')
  })

  it('that arrives while the task is held is kept, and decides when the hold is lifted', () => {
    const task = lives['held: budget']()
    task.when(opine(task.state, 1, { accept: true }))
    expect(task.emitted).toEqual(['verdict.recorded'])
    task.when(opine(task.state, 2, { accept: true }))
    expect(task.state.status).toBe('held')
    answer(task, 'retry')
    expect(task.emitted).toEqual(['operator.answered', 'hold.lifted', 'review.decided', 'task.accepted'])
    expect(task.state.done?.flag).toBe('clean')
    expect(task.count('seat.asked')).toBe(2)
  })

  it('that got lost with a hold is asked for anew', () => {
    const task = lives['held: budget']()
    task.when(opine(task.state, 1, { accept: true }))
    answer(task, 'retry')
    expect(task.latest.filter((event) => event.type === 'seat.asked').map((event) => event.data)).toEqual([
      { review: 1, seat: 2, judge: 'qa2', principal: task.state.panel?.seats[1]?.principal, repeat: false, round: 2, because: 'retry' },
    ])
    expect(task.count('verdict.recorded')).toBe(1)
  })

  it('is asked for anew in the review that is open, not in an older one', () => {
    const task = attemptUpToReview(rejected(created(rulesWith()), 'one'), 'two')
    answer(task.when({ type: 'hold_task', reason: 'budget', detail: 'wait' }), 'retry')
    expect(task.last('seat.asked')).toMatchObject({ review: 2, round: 2, because: 'retry' })
  })

  it('is not asked for again after a hold that did not keep it from being asked', () => {
    const task = lives.in_review()
    const answers = [opine(task.state, 1, { accept: true }), opine(task.state, 2, { accept: true })] as const
    answer(task.when({ type: 'hold_task', reason: 'operator', detail: 'wait' }), 'retry')
    expect(task.when(answers[0]).when(answers[1]).state.done?.flag).toBe('clean')
    expect(task.count('seat.asked')).toBe(2)
  })
})

describe('judges that could not be reached', () => {
  it('are asked again on the owner’s retry as well', () => {
    const task = answer(lose(attemptUpToReview(created(rulesWith()), 'one')), 'retry')
    expect(task.emitted.slice(0, 2)).toEqual(['operator.answered', 'hold.lifted'])
    expect(task.latest.slice(2).map((event) => event.type)).toEqual(openSeats(task.state).map(() => 'seat.asked'))
    expect(openSeats(task.state).length).toBeGreaterThanOrEqual(2)
    expect(task.state.requests).toEqual([])
  })

  it('hold with what happened, and a question', () => {
    const task = lives['held: judge_unavailable']()
    expect(task.state.hold?.detail).toContain('503')
    expect(task.last('operator.requested')).toMatchObject({
      kind: 'held',
      answers: ['retry', 'accept', 'fail'],
      detail: expect.stringContaining('503'),
    })
    task.when({ type: 'retry_review', nonce: 'nonce-001' })
    expect(task.last('hold.lifted')).toEqual({ reason: 'judge_unavailable', to: 'in_review', why: 'asked again' })
  })
})

describe('a panel that nobody could read', () => {
  it('keeps what the judges asked for in the round before', () => {
    const task = garble(attemptUpToReview(rejected(created(rulesWith({ maxAttempts: 4 })), 'one', { nextStep: 'Say hello.' }), 'two'))
    expect(task.state.feedback?.points.map((point) => point.from)).toEqual(['qa', 'qa2', 'runtime'])
    attemptUpToReview(task, 'three')
    expect(task.state.panel?.points.slice(0, 2).map((point) => point.text)).toEqual(['Say hello.', 'Say hello.'])
  })

  it('is given up for a fresh one once per submission', () => {
    const task = attemptUpToReview(created(rulesWith({ onUnreadable: 'rejudge', maxAttempts: 4 })), 'one')
    garble(task)
    expect(task.events.filter((event) => event.type === 'review.abandoned').map((event) => event.data)).toEqual([
      { review: 1, why: 'unreadable' },
    ])
    expect(task.count('review.decided')).toBe(1)
    garble(attemptUpToReview(task, 'two'))
    expect(task.count('review.abandoned')).toBe(2)
    expect(task.count('review.opened')).toBe(4)
  })

  it('is accepted on fail-open only as unreviewed, the review given up', () => {
    const task = garble(attemptUpToReview(created(rulesWith({ onUnreadable: 'accept' })), 'one'))
    expect(task.latest.slice(-2)).toMatchObject([
      { type: 'review.abandoned', data: { review: 1, why: 'accepted_unread' } },
      { type: 'task.accepted', data: { flag: 'unreviewed', attempt: 1, why: expect.stringContaining('read') } },
    ])
    expect(task.count('review.decided')).toBe(0)
  })

  it('is not accepted on fail-open where a judge abstained', () => {
    const task = attemptUpToReview(created(rulesWith({ onUnreadable: 'accept', ...full })), 'one')
    task.when(opine(task.state, 1, { accept: true, met: { AC1: 'cannot_tell' } }))
    expect(garble(task).state.status).toBe('todo')
  })
})

describe('nobody to review', () => {
  it('is said where nobody else is configured', () => {
    expect(lives['held: no_reviewer']().state.hold?.detail).toContain('no other agent')
    const solo = attemptUpToReview(readied(rulesWith({}, { dev: fiveAgents.dev as never })), 'one')
    expect(solo.last('task.accepted')).toMatchObject({ flag: 'unreviewed', why: expect.stringContaining('no other agent') })
  })

  it('stays so on a retry, with a new question', () => {
    const task = answer(lives['held: no_reviewer'](), 'retry')
    expect(task.emitted).toEqual(['operator.answered', 'hold.lifted', 'task.held', 'operator.requested'])
    expect(task.state.requests).toHaveLength(1)
  })
})
