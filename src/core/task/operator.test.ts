import { describe, expect, it } from 'vitest'
import type { OperatorAnswer } from '../../contract/events/task.ts'
import type { History } from '../../testing/task/given.ts'
import { accepted, answer, crash, garble, lives, readied, rejected } from '../../testing/task/lives.ts'
import { allOpine, attemptUpToReview, contentOf, created, freshNonce, start } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

const overrule = (outcome: 'pass' | 'fail', reason = 'I looked') => ({ type: 'overrule_task' as const, outcome, by: 'ann', reason })
const answering = (task: History, given: OperatorAnswer, reason: string) => ({
  type: 'answer_request' as const,
  request: task.last('operator.requested').request,
  answer: given,
  by: 'ann',
  reason,
  nonce: freshNonce(),
})

describe('an answer', () => {
  it('is recorded with who gave it and why', () => {
    const task = lives['held: escalated']()
    task.when(answering(task, 'fail', 'no use'))
    expect(task.latest).toEqual([
      { type: 'operator.answered', data: { request: 'mission/task#1', answer: 'fail', by: 'ann', reason: 'no use' } },
      { type: 'task.failed', data: { reason: 'the owner: no use' } },
    ])
    expect(task.state).toMatchObject({ status: 'failed', requests: [] })
  })

  it('needs an open request, and one of the answers that it offers', () => {
    const task = lives['held: stale_input']()
    expect(task.refusal({ ...answering(task, 'accept', 'r'), request: 'mission/task#9' })).toBe('not_found')
    for (const given of ['retry', 'acknowledge', 'waive', 'stop'] as const)
      expect(task.refusal(answering(task, given, 'r'))).toBe('bad_answer')
  })

  it('that decides needs a reason; a retry and an acknowledgement do not', () => {
    const held = lives['held: escalated']()
    for (const given of ['accept', 'fail'] as const) {
      expect(held.refusal(answering(held, given, ''))).toBe('reason_required')
      expect(held.refusal(answering(held, given, ' \n'))).toBe('reason_required')
    }
    expect(held.refusal(answering(held, 'retry', ''))).toBeUndefined()
    const below = lives['done: below-threshold']()
    expect(below.refusal(answering(below, 'acknowledge', ''))).toBeUndefined()
  })

  it('to one request leaves the others open', () => {
    const task = lives['done: below-threshold']().when({ type: 'input_reopened', task: 'mission/up' })
    expect(task.state.requests.map((one) => one.request)).toEqual(['mission/task#1', 'mission/task#2'])
    task.when({ ...answering(task, 'acknowledge', ''), request: 'mission/task#1' })
    expect(task.state.requests.map((one) => one.request)).toEqual(['mission/task#2'])
    expect(task.state.status).toBe('held')
  })

  it('of retry to the request about finished work waits while an input is stale', () => {
    const task = lives['done: below-threshold']().when({ type: 'input_reopened', task: 'mission/up' })
    expect(task.refusal({ ...answering(task, 'retry', ''), request: 'mission/task#1' })).toBe('wrong_status')
  })
})

describe('acknowledging a force-accept', () => {
  it('closes the question and changes nothing else', () => {
    const task = answer(lives['done: below-threshold'](), 'acknowledge')
    expect(task.emitted).toEqual(['operator.answered'])
    expect(task.state).toMatchObject({ status: 'done', done: { flag: 'below-threshold' }, requests: [] })
  })
})

describe('retry', () => {
  it('of force-accepted work opens it again with one attempt, and tells the worker what was wrong', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 1 })), 'one', { nextStep: 'Say hello.' })
    answer(task, 'retry', 'once more')
    expect(task.emitted).toEqual(['operator.answered', 'task.reopened', 'attempts.granted'])
    expect(task.last('task.reopened')).toEqual({ by: 'owner', reason: 'once more' })
    expect(task.last('attempts.granted')).toEqual({ count: 1, why: expect.stringContaining('once more') })
    expect(task.state).toMatchObject({ status: 'todo', granted: 1, requests: [] })
    expect(task.state.done).toBeUndefined()
    expect(task.state.feedback?.points.map((point) => point.text)).toEqual(['Say hello.', 'Say hello.'])
    expect(attemptUpToReview(task, 'two').state.panel?.points).toHaveLength(2)
    expect(allOpine(task, { accept: false, evidence: ['b:1'] }).state.done?.flag).toBe('below-threshold')
  })

  it.each(['held: escalated', 'held: exhausted_unscored'] as const)('of %s gives the work one more attempt', (place) => {
    const task = answer(lives[place](), 'retry')
    expect(task.emitted).toEqual(['operator.answered', 'hold.lifted', 'attempts.granted'])
    expect(task.last('hold.lifted')).toMatchObject({ to: 'todo', why: expect.stringContaining('another try') })
    expect(task.state).toMatchObject({ status: 'todo', granted: 1, requests: [] })
    expect(task.state.hold).toBeUndefined()
    expect(task.state.feedback?.points.length).toBeGreaterThan(0)
    expect(task.refusal(start())).toBeUndefined()
  })

  it('without a reason says no more than that it was asked for', () => {
    const task = answer(lives['held: escalated'](), 'retry', '')
    expect(task.last('attempts.granted').why).toBe('the owner asked for another try')
  })

  it('of work that nobody could read asks a fresh panel about it, uncharged', () => {
    const task = answer(garble(attemptUpToReview(created(rulesWith({ maxAttempts: 1 })), 'one')), 'retry')
    expect(task.emitted).toEqual(['operator.answered', 'hold.lifted', 'review.opened', 'seat.asked', 'seat.asked'])
    expect(task.last('hold.lifted')).toEqual({ reason: 'unreadable', to: 'in_review', why: expect.stringContaining('another try') })
    expect(task.state).toMatchObject({ charged: 1, granted: 0, reviews: 2 })
    expect(allOpine(task, { accept: true }).state.done?.flag).toBe('clean')
  })

  it.each(['budget', 'operator'] as const)('of %s goes back to where it was, uncharged', (reason) => {
    for (const place of ['todo', 'checking', 'in_review'] as const) {
      const task = lives[place]()
      const { charged } = task.state
      answer(task.when({ type: 'hold_task', reason, detail: 'wait' }), 'retry', 'go on')
      expect(task.state).toMatchObject({ status: place, charged, granted: 0, requests: [] })
      expect(task.last('hold.lifted')).toEqual({ reason, to: place, why: 'the owner asked for another try: go on' })
    }
  })

  it('of a hold during a restore asks for the restore again; what came meanwhile did not count', () => {
    const task = lives.restoring()
    const restore = task.last('restore.requested')
    const confirm = { type: 'confirm_restored' as const, attempt: restore.attempt, content: restore.content }
    task.when({ type: 'hold_task', reason: 'operator', detail: 'wait' })
    expect(task.refusal(confirm)).toBe('wrong_status')
    answer(task, 'retry')
    expect(task.latest.at(-1)).toEqual({ type: 'restore.requested', data: restore })
    expect(task.when(confirm).state.done?.flag).toBe('below-threshold')
  })
})

describe('accept', () => {
  it('ends owner-accepted with the score that judges gave, never clean', () => {
    const task = lives['held: escalated']()
    task.when(answering(task, 'accept', 'good enough'))
    expect(task.emitted).toEqual(['operator.answered', 'task.overruled', 'task.accepted'])
    expect(task.last('task.overruled')).toEqual({ outcome: 'pass', by: 'ann', reason: 'good enough' })
    expect(task.last('task.accepted')).toEqual({
      flag: 'owner-accepted',
      attempt: 1,
      content: contentOf('one').digest,
      score: { exact: '2/1', on5: 2, on100: 40 },
      why: 'the owner: good enough',
    })
    expect(task.state).toMatchObject({ status: 'done', done: { flag: 'owner-accepted', score: { on5: 2 } }, requests: [] })
    expect(task.state.ledger.at(-1)).toMatchObject({
      source: 'owner',
      outcome: 'pass',
      category: null,
      concern: 'good enough',
      points: [],
      content: contentOf('one').digest,
    })
  })

  it('turns the decision that judges made: nothing is asked any more', () => {
    const task = answer(lives['held: escalated'](), 'accept', 'good enough')
    expect(task.state.decided).toMatchObject([
      { overruled: 'pass', decision: { outcome: 'pass', category: null, concern: 'good enough', score: { on5: 2 } } },
    ])
    expect(task.state.decided[0]?.decision.points).toEqual([])
    expect(task.state.ledger.at(-1)?.pointers).toEqual([])
  })

  it('has no score where nobody graded the content', () => {
    const task = answer(lives['held: judge_unavailable'](), 'accept')
    expect(task.state.done).toEqual({ flag: 'owner-accepted', content: contentOf('one').digest })
    expect(task.state.panel).toBeUndefined()
  })

  it('is about the content that was force-accepted, though a later attempt left other content', () => {
    const task = lives.restoring()
    const { attempt, content } = task.last('restore.requested')
    task.when({ type: 'confirm_restored', attempt, content })
    answer(task, 'accept')
    expect(task.state.done).toMatchObject({ flag: 'owner-accepted', content: contentOf('one').digest, score: { on5: 2 } })
  })
})

describe('overruling to pass', () => {
  it.each(['held: unreadable', 'held: no_reviewer', 'held: stale_input', 'done: below-threshold', 'done: unreviewed', 'failed'] as const)(
    'turns %s into owner-accepted',
    (place) => {
      const task = lives[place]().when(overrule('pass'))
      expect(task.state).toMatchObject({ status: 'done', done: { flag: 'owner-accepted', content: contentOf('one').digest } })
      expect(task.state.hold).toBeUndefined()
    },
  )

  it('takes work that went back to the worker', () => {
    const task = rejected(created(rulesWith()), 'one').when(overrule('pass'))
    expect(task.state.done).toMatchObject({ flag: 'owner-accepted', score: { on5: 2 } })
    expect(task.state.feedback).toBeUndefined()
  })

  it('needs a reason, and a decision on work to turn', () => {
    expect(lives.failed().refusal(overrule('pass', ' '))).toBe('reason_required')
    const clean = lives['done: clean']()
    expect(clean.refusal(overrule('pass'))).toBe('wrong_status')
    expect(() => clean.when(overrule('pass'))).toThrow(/done \(clean\)/)
    expect(() => crash(created(rulesWith())).when(overrule('pass'))).toThrow(/todo: there is no decision/)
  })
})

describe('overruling to fail', () => {
  it('opens accepted work again with one attempt and the owner’s words as the point to answer', () => {
    const task = accepted(created(rulesWith()), 'one').when(overrule('fail', 'It is rude.'))
    expect(task.emitted).toEqual(['task.overruled', 'task.reopened', 'attempts.granted', 'task.returned'])
    expect(task.last('task.reopened')).toEqual({ by: 'ann', reason: 'It is rude.' })
    expect(task.last('attempts.granted')).toEqual({ count: 1, why: expect.stringContaining('It is rude.') })
    expect(task.last('task.returned')).toEqual({
      attempt: 1,
      feedback: {
        category: null,
        summary: expect.stringContaining('It is rude.'),
        points: [{ ref: 'P1', source: 'runtime', from: 'owner', text: 'It is rude.' }],
        reasoning: [],
        checks: [],
        notes: [],
      },
    })
    expect(task.state.ledger.at(-1)).toMatchObject({
      source: 'owner',
      outcome: 'reject',
      category: 'acceptance_gap',
      concern: 'It is rude.',
      points: ['It is rude.'],
      content: contentOf('one').digest,
    })
    expect(attemptUpToReview(task, 'two').state.panel?.points.map((point) => point.from)).toEqual(['owner'])
  })

  it('needs a reason', () => {
    expect(lives['done: clean']().refusal(overrule('fail', ''))).toBe('reason_required')
  })

  it('is not taken back by code: the same content is never force-accepted after it', () => {
    for (const first of [accepted(created(rulesWith()), 'one'), rejected(created(rulesWith({ maxAttempts: 1 })), 'one')]) {
      first.when(overrule('fail', 'No.'))
      while (first.state.status === 'todo') attemptUpToReview(first, 'one')
      expect(first.state.hold?.reason).toBe('exhausted_unscored')
      expect(first.state.decided.at(-1)).toMatchObject({ overruled: 'fail', decision: { outcome: 'reject', concern: 'No.' } })
    }
  })

  it('is remembered for content that nobody judged, with evaluation off as well, until the owner turns it back', () => {
    const task = attemptUpToReview(created(rulesWith({ evaluate: false })), 'one').when(overrule('fail', 'Wrong numbers.'))
    attemptUpToReview(task, 'one')
    expect(task.emitted).toEqual(['checks.passed', 'attempt.rejected', 'task.returned'])
    expect(task.last('attempt.rejected')).toMatchObject({ cause: 'owner', detail: expect.stringContaining('Wrong numbers.'), reports: [] })
    task.when(overrule('pass', 'They are right.')).when({ type: 'reopen_task', by: 'ann', reason: 'again' })
    expect(attemptUpToReview(task, 'one').state.done?.flag).toBe('unreviewed')
  })

  it('leaves other content that nobody judged to be accepted', () => {
    const task = attemptUpToReview(created(rulesWith({ evaluate: false })), 'one').when(overrule('fail', 'Wrong numbers.'))
    expect(attemptUpToReview(task, 'two').state.done?.flag).toBe('unreviewed')
  })

  it('keeps the category that judges gave, and gives one to what they passed', () => {
    const below = rejected(created(rulesWith({ maxAttempts: 1 })), 'one', { category: 'weak_test' }).when(overrule('fail', 'No.'))
    expect(below.state.decided[0]?.decision).toMatchObject({ category: 'weak_test', points: [{ from: 'owner', text: 'No.' }] })
    const clean = accepted(created(rulesWith()), 'one').when(overrule('fail', 'No.'))
    expect(clean.state.decided[0]?.decision.category).toBe('acceptance_gap')
  })

  it('leaves decisions on other content as they are', () => {
    const task = accepted(rejected(created(rulesWith()), 'one', { evidence: [] }), 'two').when(overrule('fail', 'No.'))
    expect(task.state.decided.map((one) => one.overruled)).toEqual([undefined, 'fail'])
    expect(task.state.decided[0]?.decision.concern).toBe('Something is missing.')
  })
})

describe('reopening', () => {
  it('gives finished work one more attempt', () => {
    const task = lives['done: clean']().when({ type: 'reopen_task', by: 'ann', reason: 'the gate failed' })
    expect(task.latest).toEqual([
      { type: 'task.reopened', data: { by: 'ann', reason: 'the gate failed' } },
      { type: 'attempts.granted', data: { count: 1, why: 'the gate failed' } },
    ])
    expect(task.state).toMatchObject({ status: 'todo', granted: 1 })
    const silent = lives['done: clean']().when({ type: 'reopen_task', by: 'ann', reason: '' })
    expect(silent.last('attempts.granted').why).toMatch(/\S/)
  })

  it('asks nothing of the worker that was answered before the accept', () => {
    const task = accepted(rejected(created(rulesWith()), 'one'), 'two').when({ type: 'reopen_task', by: 'ann', reason: 'again' })
    expect(task.state.feedback).toBeUndefined()
  })

  it('grants nothing to a task that never ran: it has all its attempts', () => {
    const task = lives.skipped().when({ type: 'reopen_task', by: 'runtime', reason: 'up is done after all' })
    expect(task.emitted).toEqual(['task.reopened'])
    expect(task.state).toMatchObject({ status: 'waiting', granted: 0 })
  })

  it('of a task that failed before it ran goes to where its inputs let it', () => {
    const again = { type: 'reopen_task' as const, by: 'ann', reason: 'again' }
    const early = lives.waiting().when({ type: 'fail_task', reason: 'deadline' }).when(again)
    expect(early.state.status).toBe('waiting')
    const late = readied(rulesWith()).when({ type: 'fail_task', reason: 'deadline' }).when(again)
    expect(late.state.status).toBe('waiting')
    const alone = created(rulesWith())
    expect(alone.when({ type: 'fail_task', reason: 'deadline' }).when(again).state.status).toBe('todo')
  })
})

describe('reset', () => {
  it('hides older ledger entries and feedback from both sides, and keeps counting', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 4 })), 'one').when({ type: 'reset_task', by: 'ann', reason: 'fresh start' })
    expect(task.latest).toEqual([{ type: 'task.reset', data: { by: 'ann', reason: 'fresh start' } }])
    expect(task.state).toMatchObject({ status: 'todo', ledger: [], rounds: [], charged: 1 })
    expect(task.state.feedback).toBeUndefined()
    rejected(task, 'two')
    expect(task.count('task.stagnated')).toBe(0)
    expect(task.state.ledger.map((entry) => entry.entry)).toEqual([2])
    expect(task.state.feedback?.notes).toEqual([])
  })

  it('does not forget decisions: the same content is still not judged again', () => {
    const task = rejected(created(rulesWith()), 'one').when({ type: 'reset_task', by: 'ann', reason: '' })
    attemptUpToReview(task, 'one')
    expect(task.count('decision.reused')).toBe(1)
  })
})
