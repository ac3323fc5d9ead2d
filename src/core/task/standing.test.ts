import { describe, expect, it } from 'vitest'
import type { TaskCommand } from '../../contract/commands/task.ts'
import type { History } from '../../testing/task/given.ts'
import {
  allOpine,
  attemptUpToReview,
  checks,
  created,
  freshNonce,
  openSeats,
  opine,
  reply,
  start,
  submit,
} from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'
import { attemptsLeft } from './rework.ts'

const owner = { by: 'ann', reason: 'because' }
const reopen: TaskCommand = { type: 'reopen_task', ...owner }
const full = { panel: { mode: 'full' as const } }
const veto = { accept: false, score: 2, met: { AC1: 'no' as const } }

/** Every open seat but one gives garbage until the review ends. */
function garbageBut(task: History, seat: number): void {
  for (let open = openSeats(task.state); open.length > 0; open = openSeats(task.state)) {
    for (const one of open) {
      if (!openSeats(task.state).includes(one)) continue
      task.when(one === seat ? opine(task.state, one, veto) : reply(task.state, one, 'looks good'))
    }
  }
}

describe('what stands over a review', () => {
  it('a pass is not taken up again over a veto raised since: its holder is asked first', () => {
    const task = allOpine(attemptUpToReview(created(rulesWith({ maxAttempts: 5, ...full })), 'x'), { accept: true })
    allOpine(attemptUpToReview(task.when(reopen), 'y'), veto)
    expect(task.state.vetoes.length).toBeGreaterThan(0)
    attemptUpToReview(task, 'x')
    expect(task.state.status).toBe('in_review')
    expect(task.count('decision.reused')).toBe(0)
    allOpine(task, { accept: true })
    expect(task.state).toMatchObject({ vetoes: [], done: { flag: 'clean' } })
  })

  it.each(['rework', 'rejudge', 'hold'] as const)('a veto given in a review that came to no decision stands (%s)', (onUnreadable) => {
    const task = attemptUpToReview(created(rulesWith({ onUnreadable, maxAttempts: 5, panel: { mode: 'full', quorum: 3 } })), 'x')
    garbageBut(task, 3)
    expect(task.state.vetoes.map(({ criterion, judge }) => `${criterion} ${judge}`)).toContain('AC1 qa3')
  })

  it('the owner’s word on content that no judge graded is remembered', () => {
    const solo = { dev: { role: 'engineer', brain: 'shell' } }
    const task = attemptUpToReview(created(rulesWith({}, solo)), 'x')
    expect(task.state.done?.flag).toBe('unreviewed')
    task.when({ type: 'overrule_task', outcome: 'fail', by: 'ann', reason: 'wrong numbers' })
    attemptUpToReview(task, 'x')
    expect(task.state.status).not.toBe('done')
    expect(task.last('attempt.rejected')).toMatchObject({ cause: 'owner', detail: expect.stringContaining('wrong numbers') })
  })

  it('a suspicion found with the checks is not lost when nobody could review at first', () => {
    const solo = { dev: { role: 'engineer', brain: 'shell' } }
    const held = created(rulesWith({ whenNoReviewer: 'hold' }, solo)).when(start())
    held.when(submit(held.state, 'x')).when(checks(held.state, [], ['the case addresses the reviewer']))
    expect(held.state.hold?.reason).toBe('no_reviewer')
    const { bar, dimensions, checks: same } = held.state.spec
    held.when({ type: 'adopt_policy', nonce: freshNonce(), bar, dimensions, checks: same, by: 'ann' }, rulesWith())
    expect(held.last('review.opened').suspicions).toEqual(['the case addresses the reviewer'])
    expect(openSeats(held.state)).toHaveLength(3)
  })
})

describe('what a changed policy asks for', () => {
  it('other checks run before anything is judged under it', () => {
    const task = attemptUpToReview(created(rulesWith()), 'x')
    const after = rulesWith({ threshold: 70 })
    const { bar, dimensions } = task.state.spec
    task.when({ type: 'adopt_policy', nonce: freshNonce(), bar, dimensions, checks: [{ kind: 'file', path: 'x' }], by: 'ann' }, after)
    expect(task.state).toMatchObject({ status: 'checking', spec: { checks: [{ kind: 'file', path: 'x' }] } })
    expect(task.emitted).toEqual(['review.abandoned', 'policy.adopted', 'checks.requested'])
    expect(task.when(checks(task.state, ['fail']), after).state.status).toBe('todo')
  })

  it('the assignee must still be there', () => {
    const task = created(rulesWith())
    const { bar, dimensions, checks: same } = task.state.spec
    const without = rulesWith({}, { qa: { role: 'reviewer', brain: 'judge' } })
    expect(task.refusal({ type: 'adopt_policy', nonce: freshNonce(), bar, dimensions, checks: same, by: 'ann' }, without)).toBe(
      'bad_command',
    )
  })

  it('a retry grants as many attempts as it takes to try once more', () => {
    const before = rulesWith({ maxAttempts: 3, onExhausted: 'escalate' })
    const task = created(before)
    for (const text of ['a', 'b', 'c']) allOpine(attemptUpToReview(task, text), { accept: false, evidence: [`${text}:1`] })
    const after = rulesWith({ maxAttempts: 1, onExhausted: 'escalate' })
    const { bar, dimensions, checks: same } = task.state.spec
    task.when({ type: 'adopt_policy', nonce: freshNonce(), bar, dimensions, checks: same, by: 'ann' }, after)
    const request = task.state.requests.at(-1)?.request ?? ''
    task.when({ type: 'answer_request', request, answer: 'retry', nonce: freshNonce(), ...owner }, after)
    expect(task.state).toMatchObject({ status: 'todo', granted: 3 })
    expect(attemptsLeft(task.state, after)).toBe(1)
    expect(task.when(start(), after).state.status).toBe('running')
  })
})
