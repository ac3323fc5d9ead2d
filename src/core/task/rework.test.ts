import { describe, expect, it } from 'vitest'
import {
  allOpine,
  attemptUpToReview,
  checks,
  created,
  openSeats,
  opine,
  reply,
  start,
  submit,
  unreachable,
} from '../../testing/task/steps.ts'
import { fiveAgents, rulesWith } from '../../testing/task/world.ts'

const strict = { panel: { mode: 'full' as const } }

describe('the rework rule', () => {
  it('ends a passed review as done and clean, with the score', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith()), 'hello'), { accept: true, score: 4 })
    expect(task.state.done).toMatchObject({ flag: 'clean', score: { on5: 4, on100: 80 } })
    expect(task.state.status).toBe('done')
  })

  it('sends a rejected task back with every point, the reasoning and the category', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith(strict)), 'hello'), {
      accept: false,
      category: 'weak_test',
      nextStep: 'Test it.',
    })
    expect(task.state.status).toBe('todo')
    expect(task.state.feedback).toMatchObject({ category: 'weak_test', summary: 'Something is missing.' })
    expect(task.state.feedback?.points).toEqual([
      { ref: 'P1', source: 'judge', from: 'qa', text: 'Test it.' },
      { ref: 'P2', source: 'judge', from: 'qa2', text: 'Test it.' },
      { ref: 'P3', source: 'judge', from: 'qa3', text: 'Test it.' },
    ])
    expect(task.state.feedback?.reasoning).toHaveLength(12)
  })

  it('shows the next review each point of the feedback', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith(strict)), 'hello'), { accept: false })
    attemptUpToReview(task, 'hello again')
    expect(task.state.panel?.points.map((point) => point.ref)).toEqual(['P1', 'P2', 'P3'])
  })

  it('force-accepts below the bar when the attempts are used up, with its score, and asks the operator', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith()), 'one'), { accept: false, evidence: ['a.txt:1'] })
    allOpine(attemptUpToReview(task, 'two'), { accept: false, evidence: ['b.txt:1'] })
    expect(task.state.done).toMatchObject({ flag: 'below-threshold', score: { on5: 2 } })
    expect(task.last('task.force_accepted')).toMatchObject({ attempt: 2, why: 'exhausted' })
    expect(task.last('operator.requested')).toMatchObject({ kind: 'force_accepted', answers: ['acknowledge', 'retry', 'accept'] })
  })

  it('escalates or fails at the end where the policy says so', () => {
    for (const [onExhausted, status] of [['escalate', 'held'] as const, ['fail', 'failed'] as const]) {
      const task = allOpine(attemptUpToReview(created(rulesWith({ onExhausted, maxAttempts: 1 })), 'one'), { accept: false })
      expect(task.state.status).toBe(status)
      expect(task.count('task.force_accepted')).toBe(0)
    }
  })

  it('holds for the operator where no graded decision on checked content exists', () => {
    const task = created(rulesWith({ maxAttempts: 1 })).when(start())
    task.when({ type: 'fail_attempt', attempt: 1, failure: 'exit', detail: 'exit 3' })
    expect(task.state.hold).toMatchObject({
      reason: 'exhausted_unscored',
      from: 'running',
      detail: expect.stringMatching(/; attempt 1: exit 3$/),
    })
    expect(task.last('operator.requested').answers).toEqual(['retry', 'fail'])
  })

  it('takes only the last attempt’s content with forceAccept last, even when an earlier one was graded', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith()), 'one'), { accept: false })
    task.when(start()).when({ type: 'fail_attempt', attempt: 2, failure: 'exit', detail: 'exit 3' })
    expect(task.state.hold?.reason).toBe('exhausted_unscored')
  })

  it('restores the best graded attempt before it force-accepts it, with forceAccept best', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith({ forceAccept: 'best' })), 'one'), {
      accept: false,
      score: 2,
      evidence: ['a:1'],
    })
    allOpine(attemptUpToReview(task, 'two'), { accept: false, score: 1, evidence: ['b:1'] })
    const restore = task.last('restore.requested')
    expect(restore).toMatchObject({ attempt: 1, why: 'exhausted' })
    expect(task.state.status).toBe('in_review')
    expect(task.refusal({ type: 'confirm_restored', attempt: 1, content: 'sha256:other' })).toBe('wrong_status')
    task.when({ type: 'confirm_restored', attempt: 1, content: restore.content })
    expect(task.state.done).toMatchObject({ flag: 'below-threshold', content: restore.content, score: { on5: 2 } })
  })

  it('takes the later of two equally good attempts with forceAccept best', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith({ forceAccept: 'best' })), 'one'), {
      accept: false,
      score: 2,
      evidence: ['a:1'],
    })
    allOpine(attemptUpToReview(task, 'two'), { accept: false, score: 2, evidence: ['b:1'] })
    expect(task.count('restore.requested')).toBe(0)
    expect(task.last('task.force_accepted').attempt).toBe(2)
  })

  it('ends at once, saying so, when two rounds have the same category on the same pointers and no score gain', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith({ maxAttempts: 5 })), 'one'), { accept: false, score: 2 })
    allOpine(attemptUpToReview(task, 'two'), { accept: false, score: 2 })
    expect(task.last('task.stagnated')).toEqual({ category: 'acceptance_gap', pointers: ['core.txt:1'], rounds: [1, 2] })
    expect(task.last('task.force_accepted').why).toBe('stagnated')
    expect(task.state.charged).toBe(2)
  })

  it.each([
    ['the score gained', { score: 3, evidence: ['core.txt:1'], category: 'acceptance_gap' as const, met: { AC1: 'no' as const } }],
    ['the pointers differ', { score: 2, evidence: ['other.txt:1'], category: 'acceptance_gap' as const }],
    ['the category differs', { score: 2, evidence: ['core.txt:1'], category: 'weak_test' as const }],
    ['no pointers were given', { score: 2, evidence: [], category: 'acceptance_gap' as const }],
  ])('goes on when %s', (why, second) => {
    const first = why === 'no pointers were given' ? { accept: false, score: 2, evidence: [] } : { accept: false, score: 2 }
    const task = allOpine(attemptUpToReview(created(rulesWith({ maxAttempts: 5 })), 'one'), first)
    allOpine(attemptUpToReview(task, 'two'), { accept: false, ...second })
    expect(task.count('task.stagnated')).toBe(0)
    expect(task.state.status).toBe('todo')
  })
})

describe('work that nobody could grade', () => {
  const garbage = (task: ReturnType<typeof created>) => {
    for (let seats = openSeats(task.state); seats.length > 0; seats = openSeats(task.state)) {
      for (const seat of seats) if (openSeats(task.state).includes(seat)) task.when(reply(task.state, seat, 'well, it looks good to me'))
    }
    return task
  }

  it('goes back as a synthesised reject, and is held, never force-accepted, when attempts are used up', () => {
    const task = garbage(attemptUpToReview(created(rulesWith()), 'one'))
    expect(task.last('review.decided').decision).toMatchObject({ outcome: 'reject', graded: false, parse_failed: true })
    expect(task.state.status).toBe('todo')
    expect(task.state.feedback?.notes.join()).toContain('could be read')
    garbage(attemptUpToReview(task, 'two'))
    expect(task.state.hold?.reason).toBe('unreadable')
    expect(task.count('task.force_accepted')).toBe(0)
    expect(task.count('task.eval.unparsed')).toBeGreaterThanOrEqual(8)
  })

  it('is held as unreadable at the end whatever onExhausted says', () => {
    for (const onExhausted of ['escalate', 'fail', 'force-accept'] as const) {
      const task = garbage(attemptUpToReview(created(rulesWith({ onExhausted, maxAttempts: 1 })), 'one'))
      expect(task.state.hold?.reason).toBe('unreadable')
    }
  })

  it('tries one fresh panel with rejudge, then goes back', () => {
    const task = attemptUpToReview(created(rulesWith({ onUnreadable: 'rejudge' })), 'one')
    const firstNonce = task.state.panel?.nonce
    garbage(task)
    expect(task.count('review.opened')).toBe(2)
    expect(task.last('review.opened').nonce).not.toBe(firstNonce)
    expect(task.state.status).toBe('todo')
    expect(task.state.charged).toBe(1)
  })

  it('is held with hold, and judged again on the owner’s retry without another attempt', () => {
    const task = garbage(attemptUpToReview(created(rulesWith({ onUnreadable: 'hold' })), 'one'))
    expect(task.state.hold?.reason).toBe('unreadable')
    const { request } = task.last('operator.requested')
    task.when({ type: 'answer_request', request, answer: 'retry', by: 'owner', reason: '', nonce: 'another-nonce' })
    expect(task.state.status).toBe('in_review')
    allOpine(task, { accept: true })
    expect(task.state.done?.flag).toBe('clean')
    expect(task.state.charged).toBe(1)
  })

  it('ends unreviewed with accept, never clean', () => {
    const task = garbage(attemptUpToReview(created(rulesWith({ onUnreadable: 'accept' })), 'one'))
    expect(task.state.done).toEqual({ flag: 'unreviewed', content: task.state.current?.content?.digest })
  })

  it('does not accept on fail-open when a seat graded', () => {
    const task = attemptUpToReview(created(rulesWith({ onUnreadable: 'accept', panel: { mode: 'full', quorum: 3 } })), 'one')
    task.when(opine(task.state, 1, { accept: true }))
    garbage(task)
    expect(task.state.status).toBe('todo')
  })
})

describe('judges that cannot be reached', () => {
  it('hold the task uncharged, write no ledger entry, and only they are asked again', () => {
    const task = attemptUpToReview(created(rulesWith({ panel: { mode: 'full' } })), 'one')
    task.when(opine(task.state, 1, { accept: true }))
    for (const seat of [2, 3]) while (openSeats(task.state).includes(seat)) task.when(unreachable(task.state, seat))
    expect(task.state.hold).toMatchObject({ reason: 'judge_unavailable', from: 'in_review' })
    expect(task.state.ledger).toEqual([])
    const { nonce } = task.last('review.opened')
    task.when({ type: 'retry_review', nonce: 'fresh-nonce' })
    expect(openSeats(task.state)).toEqual([2, 3])
    expect(task.state.panel?.nonce).toBe(nonce)
    allOpine(task, { accept: true })
    expect(task.state.done?.flag).toBe('clean')
    expect(task.count('verdict.recorded')).toBe(3)
    expect(task.state.charged).toBe(1)
  })
})

describe('identical content', () => {
  it('is not judged again: the decision stands', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith({ maxAttempts: 3 })), 'same'), { accept: false, evidence: [] })
    attemptUpToReview(task, 'same')
    expect(task.count('review.opened')).toBe(1)
    expect(task.last('decision.reused')).toEqual({ attempt: 2, submission: 1, review: 1 })
    expect(task.state.status).toBe('todo')
    expect(task.state.ledger).toHaveLength(1)
  })

  it('gets exactly one more review when the case changed', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith({ maxAttempts: 9 })), 'same'), { accept: false, evidence: [] })
    const argued = (summary: string) => JSON.stringify({ ...JSON.parse(fullCaseOf(task)), summary })
    allOpine(attemptUpToReview(task, 'same', argued('You missed line 3.')), { accept: false, evidence: [] })
    attemptUpToReview(task, 'same', argued('Really, look at line 3.'))
    expect(task.count('review.opened')).toBe(2)
    expect(task.count('decision.reused')).toBe(1)
  })

  it('that nobody graded may be judged again', () => {
    const task = attemptUpToReview(created(rulesWith({ maxAttempts: 3 })), 'same')
    allOpine(task, { accept: true, met: { AC1: 'cannot_tell' } })
    expect(task.state.status).toBe('todo')
    attemptUpToReview(task, 'same')
    expect(task.count('review.opened')).toBe(2)
  })
})

describe('who may not judge', () => {
  it('an author whatever the caller believes', () => {
    const task = attemptUpToReview(created(rulesWith()), 'one')
    const command = opine(task.state, 1, { accept: true })
    expect(task.refusal({ ...command, judge: 'dev' })).toBe('not_on_panel')
    const joined = created(rulesWith()).when(start()).when({ type: 'join_attempt', attempt: 1, participant: 'qa' })
    joined.when(submit(joined.state, 'one')).when(checks(joined.state))
    expect(joined.state.panel?.roster.map((one) => one.judge)).not.toContain('qa')
  })

  it('nobody at all: a solo agent is unreviewed, or held where the policy says so', () => {
    const solo = { dev: { role: 'engineer', brain: 'shell' } }
    const accepted = attemptUpToReview(created(rulesWith({}, solo)), 'one')
    expect(accepted.state.done?.flag).toBe('unreviewed')
    const held = attemptUpToReview(created(rulesWith({ whenNoReviewer: 'hold' }, solo)), 'one')
    expect(held.state.hold?.reason).toBe('no_reviewer')
  })

  it('others exist but none is eligible: held, never accepted', () => {
    const alias = { dev: fiveAgents.dev as never, twin: { ...(fiveAgents.dev as object), judges: true } as never }
    const task = attemptUpToReview(created(rulesWith({}, alias)), 'one')
    expect(task.state.hold).toMatchObject({ reason: 'no_reviewer' })
    expect(task.state.hold?.detail).toContain('twin')
  })

  it('late, repeated and foreign answers find no seat', () => {
    const task = attemptUpToReview(created(rulesWith()), 'one')
    const first = opine(task.state, 1, { accept: true })
    task.when(first)
    expect(task.refusal(first)).toBe('stale_seat')
    expect(task.refusal({ ...first, review: 7 })).toBe('stale_review')
    expect(task.refusal({ ...first, seat: 2, judge: 'lead' })).toBe('not_on_panel')
  })
})

function fullCaseOf(task: ReturnType<typeof created>): string {
  return JSON.stringify({
    summary: 'x',
    ac_coverage: task.state.spec.criteria.map((one) => ({ criterion: one.id, pointer: 'core.txt:1' })),
  })
}
