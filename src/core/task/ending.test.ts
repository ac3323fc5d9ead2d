import { describe, expect, it } from 'vitest'
import { accepted, answer, crash, garble, lives, rejected } from '../../testing/task/lives.ts'
import { allOpine, attemptUpToReview, checks, contentOf, created, fullCase, start, submit } from '../../testing/task/steps.ts'
import { rulesWith, specWith } from '../../testing/task/world.ts'

const best = (maxAttempts = 2) => rulesWith({ forceAccept: 'best', maxAttempts })
const argued = (summary: string) => fullCase(specWith(), summary)

describe('attempts used up', () => {
  it('escalate with a question and no force-accept, saying why', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 1, onExhausted: 'escalate' })), 'one')
    expect(task.emitted.slice(-3)).toEqual(['review.decided', 'task.held', 'operator.requested'])
    expect(task.state.hold).toEqual({ reason: 'escalated', from: 'in_review', detail: expect.stringContaining('used up') })
    expect(task.last('operator.requested')).toMatchObject({ kind: 'held', answers: ['retry', 'accept', 'fail'] })
  })

  it('fail the task where the policy says so, saying why', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 1, onExhausted: 'fail' })), 'one')
    expect(task.last('task.failed').reason).toContain('used up')
    expect(task.state.requests).toEqual([])
  })

  it('fail the task for any cause of the last attempt’s end', () => {
    expect(crash(created(rulesWith({ maxAttempts: 1, onExhausted: 'fail' }))).state.status).toBe('failed')
  })

  it('force-accept with content, score, and a question that shows the score', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 1 })), 'one', { score: 2, concern: 'No hello.' })
    const score = { exact: '2/1', on5: 2, on100: 40 }
    expect(task.last('task.force_accepted')).toEqual({ attempt: 1, content: contentOf('one').digest, score, vetoes: [], why: 'exhausted' })
    expect(task.last('operator.requested')).toMatchObject({ kind: 'force_accepted', detail: expect.stringMatching(/40\/100.*No hello\./) })
    expect(task.state.done).toEqual({ flag: 'below-threshold', content: contentOf('one').digest, score })
  })

  it('charge exactly maxAttempts executions and one for each grant', () => {
    const task = created(rulesWith({ maxAttempts: 3 }))
    for (const attempt of [1, 2, 3]) {
      expect(task.state.status).toBe('todo')
      crash(task)
      expect(task.state.charged).toBe(attempt)
    }
    expect(task.state.hold?.reason).toBe('exhausted_unscored')
    expect(crash(answer(task, 'retry')).state.hold?.reason).toBe('exhausted_unscored')
    expect(task.state.charged).toBe(4)
  })
})

describe('force-accepting the last attempt', () => {
  it('needs its checks to pass, though the same content was graded before', () => {
    const spec = { checks: [{ kind: 'file' as const, path: 'core.txt' }] }
    const task = rejected(created(rulesWith(), spec), 'one', { evidence: [] })
    task.when(start()).when(submit(task.state, 'one'))
    task.when(checks(task.state, ['fail']))
    expect(task.state.hold).toMatchObject({ reason: 'exhausted_unscored', detail: expect.stringContaining('no graded decision') })
  })

  it('takes the standing decision of content that came again', () => {
    const task = rejected(created(rulesWith()), 'one', { evidence: [] })
    attemptUpToReview(task, 'one')
    expect(task.last('task.force_accepted')).toMatchObject({ attempt: 1, content: contentOf('one').digest, why: 'exhausted' })
  })

  it('does not take what judges could not tell', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith({ maxAttempts: 1 })), 'one'), { accept: true, met: { AC1: 'cannot_tell' } })
    expect(task.last('review.decided').decision).toMatchObject({ graded: false, parse_failed: false, category: 'acceptance_gap' })
    expect(task.state.hold?.reason).toBe('exhausted_unscored')
  })

  it('takes the last word on content that was heard twice', () => {
    const task = rejected(created(rulesWith()), 'one', { score: 2, evidence: [] })
    allOpine(attemptUpToReview(task, 'one', argued('Look again.')), { accept: false, score: 1, evidence: [] })
    expect(task.last('task.force_accepted')).toMatchObject({ attempt: 2, score: { on5: 1 } })
  })
})

describe('force-accepting the best attempt', () => {
  it('takes the highest score, wherever it came', () => {
    const task = rejected(created(best(3)), 'one', { score: 1, evidence: ['a:1'] })
    rejected(rejected(task, 'two', { score: 2, evidence: ['b:1'] }), 'three', { score: 1, evidence: ['c:1'] })
    expect(task.last('restore.requested')).toEqual({ attempt: 2, content: contentOf('two').digest, why: 'exhausted' })
    expect(task.state.restoring).toEqual(task.last('restore.requested'))
    expect(task.count('task.force_accepted')).toBe(0)
  })

  it('restores nothing where the last is the best', () => {
    const task = rejected(rejected(created(best()), 'one', { score: 1, evidence: ['a:1'] }), 'two', { score: 2, evidence: ['b:1'] })
    expect(task.emitted).not.toContain('restore.requested')
    expect(task.last('task.force_accepted').attempt).toBe(2)
  })

  it('takes an earlier attempt where the last one came to nothing, with its own score', () => {
    const task = crash(rejected(created(best()), 'one', { score: 2 }))
    expect(task.state).toMatchObject({ status: 'in_review', restoring: { attempt: 1, why: 'exhausted' } })
    task.when({ type: 'confirm_restored', attempt: 1, content: contentOf('one').digest })
    expect(task.last('task.force_accepted')).toMatchObject({ attempt: 1, score: { on5: 2 }, why: 'exhausted' })
    expect(task.state.done?.content).toBe(contentOf('one').digest)
    expect(task.state.restoring).toBeUndefined()
  })

  it('goes by the last word on each content, not by its better draw', () => {
    const task = rejected(created(best(3)), 'one', { score: 2, evidence: [] })
    allOpine(attemptUpToReview(task, 'one', argued('Look again.')), { accept: false, score: 1, evidence: [] })
    crash(task)
    expect(task.state.restoring?.attempt).toBe(2)
    task.when({ type: 'confirm_restored', attempt: 2, content: contentOf('one').digest })
    expect(task.last('task.force_accepted')).toMatchObject({ attempt: 2, score: { on5: 1 } })
  })

  it('does not take what passed in the end and was reopened', () => {
    const task = rejected(created(best(2)), 'one', { evidence: [] })
    allOpine(attemptUpToReview(task, 'one', argued('Look again.')), { accept: true })
    task.when({ type: 'reopen_task', by: 'owner', reason: 'again' })
    expect(crash(task).state.hold?.reason).toBe('exhausted_unscored')
  })

  it('holds where no attempt was graded', () => {
    expect(crash(crash(created(best()))).state.hold?.reason).toBe('exhausted_unscored')
  })

  it('prefers a graded attempt to a last one that nobody could read', () => {
    const task = garble(attemptUpToReview(rejected(created(best()), 'one'), 'two'))
    expect(task.state.restoring?.attempt).toBe(1)
  })

  it('is never of work that nobody could read', () => {
    const task = garble(attemptUpToReview(garble(attemptUpToReview(created(best()), 'one')), 'two'))
    expect(task.state.hold?.reason).toBe('unreadable')
    expect(task.count('task.force_accepted')).toBe(0)
  })
})

describe('a last attempt that nobody could read', () => {
  it('is held as unreadable, though an earlier one was graded', () => {
    const settings = [
      { onExhausted: 'force-accept' },
      { onExhausted: 'escalate' },
      { onExhausted: 'fail' },
      { onExhausted: 'fail', forceAccept: 'best' },
    ] as const
    for (const review of settings) {
      const task = garble(attemptUpToReview(rejected(created(rulesWith(review)), 'one'), 'two'))
      expect(task.state.hold).toMatchObject({ reason: 'unreadable', from: 'in_review', detail: expect.stringContaining('read') })
    }
  })

  it('is not what ends a task whose last attempt failed by itself', () => {
    const task = crash(garble(attemptUpToReview(created(rulesWith({ onExhausted: 'fail' })), 'one')))
    expect(task.state.status).toBe('failed')
  })

  it('is not what ends a task whose last attempt code rejected', () => {
    const task = garble(attemptUpToReview(created(rulesWith({ onExhausted: 'escalate' })), 'one'))
    task.when(start()).when(submit(task.state, 'two', { raw: 'no case' }))
    expect(task.state.hold?.reason).toBe('escalated')
  })
})

describe('stagnation', () => {
  const stuck = (review = {}) => rejected(rejected(created(rulesWith({ maxAttempts: 5, ...review })), 'one'), 'two')

  it.each([
    ['escalate', 'held'],
    ['fail', 'failed'],
  ] as const)('with %s ends as %s, saying so', (onExhausted, status) => {
    const task = stuck({ onExhausted })
    expect(task.state.status).toBe(status)
    expect(task.emitted).toContain('task.stagnated')
    const detail = status === 'failed' ? task.last('task.failed').reason : task.last('operator.requested').detail
    expect(detail).not.toContain('used up')
    expect(detail).toMatch(/further|move/)
    if (status === 'held') expect(task.last('operator.requested').kind).toBe('stagnated')
  })

  it('is over with the owner’s retry: what ends later says its own reason', () => {
    const task = stuck({ onExhausted: 'escalate', maxAttempts: 2 })
    crash(answer(task, 'retry'))
    expect(task.state.hold?.reason).toBe('escalated')
    expect(task.last('operator.requested').kind).toBe('held')
  })

  it('is seen though an attempt without a decision lies between', () => {
    const task = rejected(crash(rejected(created(rulesWith({ maxAttempts: 5 })), 'one')), 'two')
    expect(task.last('task.stagnated').rounds).toEqual([1, 3])
  })

  it('is the same content coming back unchanged', () => {
    const task = attemptUpToReview(rejected(created(rulesWith({ maxAttempts: 5 })), 'one'), 'one')
    expect(task.emitted).toEqual(['checks.passed', 'decision.reused', 'task.stagnated', 'task.force_accepted', 'operator.requested'])
  })

  it('is seen where the score fell as well', () => {
    const task = rejected(rejected(created(rulesWith({ maxAttempts: 5 })), 'one', { score: 2 }), 'two', { score: 1 })
    expect(task.count('task.stagnated')).toBe(1)
  })

  it('looks at the last two rounds only', () => {
    const task = rejected(rejected(created(rulesWith({ maxAttempts: 5 })), 'one', { evidence: ['a:1'] }), 'two', { evidence: ['b:1'] })
    expect(rejected(task, 'three', { evidence: ['a:1'] }).count('task.stagnated')).toBe(0)
  })

  it('is seen in the last two rounds whatever came before', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 5 })), 'one', { evidence: ['a:1'] })
    rejected(rejected(task, 'two', { evidence: ['b:1'] }), 'three', { evidence: ['b:1'] })
    expect(task.last('task.stagnated').rounds).toEqual([2, 3])
    expect(answer(task, 'retry').state.stagnated).toBe(false)
  })

  it('does not take two pointers for one that reads like both', () => {
    const task = rejected(created(rulesWith({ maxAttempts: 5 })), 'one', { evidence: ['a:1', 'b:1'] })
    expect(rejected(task, 'two', { evidence: ['a:1b:1'] }).count('task.stagnated')).toBe(0)
  })

  it('is not seen where the surface only overlaps', () => {
    const task = rejected(rejected(created(rulesWith({ maxAttempts: 5 })), 'one', { evidence: ['a:1'] }), 'two', {
      evidence: ['a:1', 'b:1'],
    })
    expect(task.count('task.stagnated')).toBe(0)
    expect(task.state.feedback?.notes.join()).toContain('recurs')
  })

  it('restores the best attempt before it is force-accepted, saying why', () => {
    const rules = rulesWith({ maxAttempts: 5, forceAccept: 'best' })
    const task = rejected(rejected(created(rules), 'one', { score: 2 }), 'two', { score: 1 })
    expect(task.state.restoring).toMatchObject({ attempt: 1, why: 'stagnated' })
    task.when({ type: 'confirm_restored', attempt: 1, content: contentOf('one').digest })
    expect(task.last('task.force_accepted').why).toBe('stagnated')
  })

  it('counts only graded rejections as rounds', () => {
    const task = garble(attemptUpToReview(created(rulesWith({ maxAttempts: 5 })), 'one'))
    garble(attemptUpToReview(task, 'two'))
    expect(task.state.rounds).toEqual([])
    expect(accepted(task, 'three').state.rounds).toEqual([])
  })
})

describe('restoring', () => {
  it('is confirmed for the content that was chosen, and no other', () => {
    const task = lives.restoring()
    expect(task.refusal({ type: 'confirm_restored', attempt: 2, content: contentOf('two').digest })).toBe('wrong_status')
    expect(lives['done: clean']().refusal({ type: 'confirm_restored', attempt: 1, content: contentOf('one').digest })).toBe('wrong_status')
  })

  it('awaits no judge: nobody sits in a review meanwhile', () => {
    const task = lives.restoring()
    expect(task.state.panel).toBeUndefined()
    expect(task.state.status).toBe('in_review')
  })

  it('may be ended by force of the deadline', () => {
    const task = lives.restoring().when({ type: 'fail_task', reason: 'deadline' })
    expect(task.state.restoring).toBeUndefined()
    expect(task.refusal({ type: 'confirm_restored', attempt: 1, content: contentOf('one').digest })).toBe('wrong_status')
  })
})
