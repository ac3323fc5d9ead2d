import { describe, expect, it } from 'vitest'
import type { History } from '../../testing/task/given.ts'
import { checks, contentOf, created, mergedAs, mergeReport, noContent, openSeats, opine, start, submit } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

const work = contentOf('work')
const worktree = { workspace: { kind: 'worktree' as const } }

/** A task in a worktree whose panel has just given its last word. */
function judged(accept: boolean, review: Parameters<typeof rulesWith>[0] = {}): History {
  return attempted(created(rulesWith({ panel: { mode: 'full', size: 2 }, ...review }), worktree), accept)
}

function attempted(history: History, accept: boolean, content = work): History {
  history.when(start()).when(submit(history.state, '', { content }))
  history.when(checks(history.state))
  for (const seat of openSeats(history.state)) history.when(opine(history.state, seat, { accept }))
  return history
}

const published = { type: 'confirm_published', commit: 'c1', outcome: 'published' } as const
const moved = { type: 'confirm_published', commit: 'c1', outcome: 'moved' } as const
const conflict = { kind: 'conflict' as const, paths: ['core.txt'], detail: 'core.txt: both changed line 1' }

describe('accepted work in a worktree', () => {
  it('stays in review until it is merged, checked and published; only then it is accepted', () => {
    const history = judged(true)
    expect(history.emitted).toEqual(['verdict.recorded', 'review.decided', 'merge.requested'])
    expect(history.state.status).toBe('in_review')
    history.when(mergeReport(work.digest, mergedAs(work)))
    expect(history.emitted).toEqual(['merge.checked'])
    expect(history.state.status).toBe('in_review')
    history.when(published)
    expect(history.emitted).toEqual(['merge.published', 'task.accepted'])
    expect(history.state).toMatchObject({ status: 'done', done: { flag: 'clean', content: work.digest }, merged: work.digest })
  })

  it('is merged anew where the branch moved meanwhile', () => {
    const history = judged(true)
      .when(mergeReport(work.digest, mergedAs(work)))
      .when(moved)
    expect(history.emitted).toEqual(['merge.requested'])
    expect(history.refusal(published)).toBe('wrong_status')
    history.when(mergeReport(work.digest, mergedAs(work, 'pass', 'c2'))).when({ ...published, commit: 'c2' })
    expect(history.state.status).toBe('done')
  })

  it('goes back with the conflict, uncharged at most so often, then charged, then to the owner', () => {
    const history = judged(true, { maxMergeRetries: 1, maxAttempts: 2 })
    history.when(mergeReport(work.digest, conflict))
    expect(history.emitted).toEqual(['merge.failed', 'task.returned'])
    expect(history.last('merge.failed').charged).toBe(false)
    expect(history.state).toMatchObject({ status: 'todo', charged: 0, behind: true })
    expect(history.state.feedback?.summary).toContain('both changed line 1')
    attempted(history, true, contentOf('again'))
    expect(history.state.behind).toBe(false)
    history.when(mergeReport(contentOf('again').digest, conflict))
    expect(history.last('merge.failed').charged).toBe(true)
    expect(history.state).toMatchObject({ status: 'todo', charged: 1 })
    attempted(history, true, contentOf('third')).when(mergeReport(contentOf('third').digest, conflict))
    expect(history.emitted).toEqual(['merge.failed', 'task.held', 'operator.requested'])
    expect(history.state).toMatchObject({ status: 'held', hold: { reason: 'exhausted_unscored' } })
  })

  it('goes back with the reports where checks fail on the merge', () => {
    const history = judged(true).when(mergeReport(work.digest, mergedAs(work, 'fail')))
    expect(history.emitted).toEqual(['merge.failed', 'task.returned'])
    expect(history.state.feedback?.checks).toMatchObject([{ id: 'regression:mission/other:file-1', outcome: 'fail' }])
    expect(history.state.ledger.at(-1)).toMatchObject({ source: 'mechanical', outcome: 'reject' })
  })

  it('is reviewed again where the merge changed what was reviewed', () => {
    const history = judged(true)
    const other = contentOf('merged otherwise')
    history.when(mergeReport(work.digest, mergedAs(other)))
    expect(history.emitted).toEqual(['merge.changed', 'review.opened', 'seat.asked', 'seat.asked'])
    expect(history.last('review.opened').subject.content).toBe(other.digest)
    for (const seat of openSeats(history.state)) history.when(opine(history.state, seat, { accept: true }))
    history.when(mergeReport(other.digest, mergedAs(other))).when(published)
    expect(history.state.done).toMatchObject({ flag: 'clean', content: other.digest })
  })

  it('is not merged where there is no change to merge', () => {
    const history = created(rulesWith({ panel: { mode: 'full', size: 2 } }), { ...worktree, expectsDiff: false })
    attempted(history, true, { ...noContent, empty: false, output: 'an answer' })
    expect(history.state.status).toBe('done')
    expect(history.count('merge.requested')).toBe(0)
  })

  it('takes no merge that nobody asked for', () => {
    const history = created(rulesWith(), worktree).when(start())
    expect(history.refusal(mergeReport(work.digest, mergedAs(work)))).toBe('wrong_status')
    expect(history.refusal(published)).toBe('wrong_status')
    const waiting = judged(true)
    expect(waiting.refusal(mergeReport(contentOf('other').digest, mergedAs(work)))).toBe('wrong_status')
    expect(waiting.refusal(published)).toBe('wrong_status')
  })
})

describe('work in a worktree that is taken below the bar', () => {
  it('is merged too, and stays told apart', () => {
    const history = judged(false, { maxAttempts: 1 })
    expect(history.emitted).toContain('merge.requested')
    history.when(mergeReport(work.digest, mergedAs(work))).when(published)
    expect(history.emitted).toEqual(['merge.published', 'task.force_accepted', 'operator.requested'])
    expect(history.state.done?.flag).toBe('below-threshold')
  })

  it('goes to the owner, not round in circles, where it cannot be merged', () => {
    const history = judged(false, { maxAttempts: 1, maxMergeRetries: 0 }).when(mergeReport(work.digest, conflict))
    expect(history.state).toMatchObject({ status: 'held', hold: { reason: 'exhausted_unscored' } })
  })

  it('is not merged a second time when the owner accepts it', () => {
    const history = judged(false, { maxAttempts: 1 })
      .when(mergeReport(work.digest, mergedAs(work)))
      .when(published)
    history.when({ type: 'overrule_task', outcome: 'pass', by: 'owner', reason: 'good enough' })
    expect(history.state.done?.flag).toBe('owner-accepted')
    expect(history.count('merge.requested')).toBe(1)
  })
})

describe('a merge that something comes between', () => {
  it('waits while an input is stale, and is made when it lands unchanged', () => {
    const upstream = { task: 'mission/up', digest: 'd1', flag: 'clean' as const, prefix: '' }
    const history = created(rulesWith({ panel: { mode: 'full', size: 2 } }), { ...worktree, dependsOn: ['mission/up'] })
    history.when({ type: 'ready_task', inputs: [upstream] })
    attempted(history, true).when({ type: 'input_reopened', task: 'mission/up' })
    expect(history.refusal(mergeReport(work.digest, mergedAs(work)))).toBe('wrong_status')
    history.when({ type: 'input_landed', input: upstream, nonce: 'nonce-1234' })
    expect(history.emitted).toContain('merge.requested')
    history.when(mergeReport(work.digest, mergedAs(work))).when(published)
    expect(history.state.status).toBe('done')
  })

  it('is forgotten under a changed policy: the work is reviewed again', () => {
    const history = judged(true)
    const { dimensions } = history.state.spec
    const changed = rulesWith({ panel: { mode: 'full', size: 2 }, threshold: 70 })
    history.when({ type: 'adopt_policy', nonce: 'nonce-1234', bar: 70, dimensions, checks: [], by: 'owner' }, changed)
    expect(history.emitted).toContain('review.opened')
    expect(history.state.merging).toBeUndefined()
  })

  it('brings the mission into the workspace when merged work is reopened', () => {
    const history = judged(true)
      .when(mergeReport(work.digest, mergedAs(work)))
      .when(published)
    history.when({ type: 'reopen_task', by: 'owner', reason: 'more' })
    expect(history.state).toMatchObject({ status: 'todo', behind: true })
  })
})
