import { describe, expect, it } from 'vitest'
import { accepted, garble, rejected } from '../../testing/task/lives.ts'
import { allOpine, attemptUpToReview, checks, contentOf, created, fullCase, start, submit } from '../../testing/task/steps.ts'
import { rulesWith, specWith } from '../../testing/task/world.ts'

const otherCase = (summary: string) => fullCase(specWith(), summary)

describe('a decision', () => {
  it('accepts exactly the content that was judged', () => {
    const task = accepted(created(rulesWith()), 'one')
    expect(task.last('task.accepted')).toEqual({
      flag: 'clean',
      attempt: 1,
      content: contentOf('one').digest,
      score: { exact: '4/1', on5: 4, on100: 80 },
      why: expect.stringContaining('panel'),
    })
  })

  it('makes one entry of the ledger, with everything that both sides are to know', () => {
    const task = rejected(created(rulesWith()), 'one', { category: 'weak_test', nextStep: 'Test it.', concern: 'No test.' })
    expect(task.state.ledger).toEqual([
      {
        entry: 1,
        attempt: 1,
        review: 1,
        source: 'panel',
        outcome: 'reject',
        score: { exact: '2/1', on5: 2, on100: 40 },
        category: 'weak_test',
        concern: 'No test.',
        points: ['Test it.', 'Test it.'],
        pointers: ['core.txt:1'],
        content: contentOf('one').digest,
      },
    ])
    expect(garble(attemptUpToReview(task, 'two')).state.ledger.at(-1)).not.toHaveProperty('score')
    expect(task.state.ledger.at(-1)).toMatchObject({ entry: 2, source: 'unreadable', review: 2 })
  })
})

describe('a decision that stands', () => {
  it('is returned for the same content: a rejection as much as a pass', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 4 })), 'same', { evidence: [], nextStep: 'Say hello.' })
    attemptUpToReview(task, 'same')
    expect(task.emitted).toEqual(['checks.passed', 'decision.reused', 'task.returned'])
    expect(task.state.feedback?.category).toBe('acceptance_gap')
    expect(task.state.feedback?.points.map((point) => `${point.from}: ${point.text}`)).toEqual([
      'qa: Say hello.',
      'qa2: Say hello.',
      'qa3: Say hello.',
    ])
    accepted(task, 'other').when({ type: 'reopen_task', by: 'owner', reason: 'once more' })
    attemptUpToReview(task, 'other')
    expect(task.emitted).toEqual(['checks.passed', 'decision.reused', 'task.accepted'])
    expect(task.last('decision.reused')).toEqual({ attempt: 4, submission: 1, review: 2 })
    expect(task.state.done).toMatchObject({ flag: 'clean', score: { on5: 4 } })
  })

  it('is returned for older content too, not only for the last', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 9 })), 'a', { evidence: [] })
    rejected(task, 'b', { evidence: [] })
    attemptUpToReview(task, 'a')
    expect(task.last('decision.reused').review).toBe(1)
  })

  it('is told to the worker as it was, though others were made before and after', () => {
    const task = created(rulesWith({ maxAttempts: 9 }))
    for (const text of ['a', 'b', 'c']) rejected(task, text, { evidence: [], nextStep: `Mend ${text}.` })
    attemptUpToReview(task, 'b')
    expect(task.state.feedback?.points[0]?.text).toBe('Mend b.')
  })

  it('belongs to the submission that brought the content again', () => {
    const spec = { checks: [{ kind: 'file' as const, path: 'core.txt' }] }
    const task = rejected(created(rulesWith({ maxAttempts: 9 }), spec), 'one', { evidence: [] }).when(start(true))
    task.when(submit(task.state, 'two')).when(checks(task.state, ['fail']))
    task.when(submit(task.state, 'one')).when(checks(task.state))
    expect(task.last('decision.reused')).toEqual({ attempt: 2, submission: 2, review: 1 })
  })

  it('ends the attempts like a fresh one', () => {
    const task = rejected(created(rulesWith({ onExhausted: 'escalate' })), 'one', { evidence: [] })
    attemptUpToReview(task, 'one')
    expect(task.state.hold).toMatchObject({ reason: 'escalated', from: 'in_review' })
  })

  it('is looked at once more when the case changed, and what that says stands', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 9 })), 'same', { evidence: [] })
    allOpine(attemptUpToReview(task, 'same', otherCase('See line 3.')), { accept: true })
    expect(task.state.done?.flag).toBe('clean')
    task.when({ type: 'reopen_task', by: 'owner', reason: 'once more' })
    attemptUpToReview(task, 'same')
    expect(task.last('decision.reused').review).toBe(2)
    expect(task.state.done?.flag).toBe('clean')
  })

  it('is the owner’s where the owner turned it, whatever the case argues', () => {
    const failed = accepted(created(rulesWith({ maxAttempts: 3 })), 'same').when({
      type: 'overrule_task',
      outcome: 'fail',
      by: 'owner',
      reason: 'It is rude.',
    })
    attemptUpToReview(failed, 'same', otherCase('It is not.'))
    expect(failed.count('review.opened')).toBe(1)
    expect(failed.state.status).toBe('todo')
    expect(failed.state.feedback?.points).toEqual([{ ref: 'P1', source: 'runtime', from: 'owner', text: 'It is rude.' }])

    const passed = rejected(created(rulesWith()), 'same').when({
      type: 'overrule_task',
      outcome: 'pass',
      by: 'owner',
      reason: 'Good enough.',
    })
    passed.when({ type: 'reopen_task', by: 'owner', reason: 'once more' })
    attemptUpToReview(passed, 'same', otherCase('Again.'))
    expect(passed.last('task.accepted')).toMatchObject({ flag: 'owner-accepted', score: { on5: 2 }, why: expect.stringContaining('owner') })
    expect(passed.count('review.opened')).toBe(1)
  })
})
