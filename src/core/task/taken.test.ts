import { describe, expect, it } from 'vitest'
import type { History } from '../../testing/task/given.ts'
import { crash } from '../../testing/task/lives.ts'
import {
  allOpine,
  checks,
  contentOf,
  created,
  freshNonce,
  fullCase,
  mergedAs,
  mergeReport,
  start,
  submit,
} from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

const first = contentOf('first')
const merged = contentOf('first, merged otherwise')
const best = { forceAccept: 'best' as const, maxAttempts: 2, panel: { mode: 'full' as const, size: 2 } }
const published = { type: 'confirm_published', commit: 'c1', outcome: 'published' } as const

function attempted(task: History, content = first, score = 2, summary = `about ${content.output}`): History {
  task.when(start()).when(submit(task.state, '', { content, raw: fullCase(task.state.spec, summary) }))
  task.when(checks(task.state))
  return allOpine(task, { accept: false, score, evidence: [`${content.output}:1`] })
}

/** The first attempt was graded, the last one left nothing; the first one's snapshot is put back. */
function restored(review: Parameters<typeof rulesWith>[0] = best, workspace: 'worktree' | 'scratch' = 'worktree'): History {
  const task = crash(attempted(created(rulesWith(review), { workspace: { kind: workspace } })))
  expect(task.emitted).toContain('restore.requested')
  return task.when({ type: 'confirm_restored', attempt: 1, content: first.digest })
}

describe("an earlier attempt's work that is taken", () => {
  it('brings its own case along, and is done as that attempt', () => {
    const task = restored(best, 'scratch')
    expect(task.last('task.force_accepted').attempt).toBe(1)
    expect(task.state.current).toMatchObject({ attempt: 1, content: first, case: { summary: 'about first' } })
    task.when({ type: 'overrule_task', outcome: 'pass', by: 'owner', reason: 'good enough' })
    expect(task.last('task.accepted')).toMatchObject({ attempt: 1, content: first.digest })
  })

  it('is reviewed with its own case where the merge changed it, and every event names its attempt', () => {
    const task = restored().when(mergeReport(first.digest, mergedAs(merged)))
    expect(task.emitted).toEqual(['merge.changed', 'review.opened', 'seat.asked', 'seat.asked'])
    expect(task.last('merge.changed').attempt).toBe(1)
    expect(task.last('review.opened')).toMatchObject({ attempt: 1, submission: 1, subject: { content: merged.digest } })
    expect(task.state.current?.case?.summary).toBe('about first')
    allOpine(task, { accept: true })
    expect(task.last('review.decided').attempt).toBe(1)
    task.when(mergeReport(merged.digest, mergedAs(merged))).when(published)
    expect(task.last('task.accepted')).toMatchObject({ attempt: 1, flag: 'clean', content: merged.digest })
  })

  it('is taken as it was merged, not put back for ever, where the judges like the merge less', () => {
    const task = restored().when(mergeReport(first.digest, mergedAs(merged)))
    allOpine(task, { accept: false, score: 1, evidence: ['elsewhere:1'] })
    expect(task.emitted).toContain('merge.requested')
    expect(task.last('merge.requested').acceptance).toMatchObject({ kind: 'force_accepted', attempt: 1, content: merged.digest })
    task.when(mergeReport(merged.digest, mergedAs(merged))).when(published)
    expect(task.state.done).toMatchObject({ flag: 'below-threshold', content: merged.digest })
  })

  it('may be taken after all where it was submitted again since', () => {
    const task = attempted(created(rulesWith({ ...best, maxAttempts: 1 }), { workspace: { kind: 'worktree' } }))
    task.when(mergeReport(first.digest, mergedAs(merged)))
    allOpine(task, { accept: true })
    task.when(mergeReport(merged.digest, mergedAs(merged))).when(published)
    task.when({ type: 'reopen_task', by: 'owner', reason: 'once more' })
    attempted(task, first, 2, 'the same, argued otherwise')
    expect(task.last('merge.requested').acceptance).toMatchObject({ kind: 'force_accepted', attempt: 2, content: first.digest })
  })

  it('goes to its owner with its own content where it cannot be merged', () => {
    const conflict = { kind: 'conflict' as const, paths: ['core.txt'], detail: 'both changed line 1' }
    const task = restored({ ...best, maxMergeRetries: 0 }).when(mergeReport(first.digest, conflict))
    expect(task.last('merge.failed').attempt).toBe(1)
    expect(task.last('operator.requested').answers).toContain('accept')
  })

  it('is checked again as that attempt under a policy that asks for other checks, and is not worked on any more', () => {
    const task = restored({ ...best, maxCheckRetries: 3 })
    const other = rulesWith({ ...best, maxCheckRetries: 2 })
    const { bar, dimensions } = task.state.spec
    const wanted = [{ kind: 'file' as const, path: 'core.txt' }]
    task.when({ type: 'adopt_policy', nonce: freshNonce(), bar, dimensions, checks: wanted, by: 'owner' }, other)
    expect(task.last('checks.requested')).toEqual({ attempt: 1, submission: 1 })
    task.when({ ...checks(task.state, ['fail']), attempt: 1 } as never, other)
    expect(task.last('attempt.rejected')).toMatchObject({ attempt: 1, cause: 'checks' })
    expect(task.state.status).toBe('held')
  })

  it('hands the conversation of its own attempt to the next one', () => {
    const task = created(rulesWith(best), { workspace: { kind: 'scratch' } }).when(start(true))
    task
      .when({ ...submit(task.state, '', { content: first }), conversation: { stored: null, said: ['first'] } } as never)
      .when(checks(task.state))
    allOpine(task, { accept: false, score: 2 })
    task.when(start(true)).when({ type: 'begin_call', attempt: 2, tool: 'run', conversation: { stored: null, said: ['second'] } })
    task.when({ type: 'interrupt_attempt', attempt: 2, detail: 'crash' })
    task.when({ type: 'confirm_restored', attempt: 1, content: first.digest })
    task.when({ type: 'reopen_task', by: 'owner', reason: 'more' }).when(start(true))
    expect(task.state.current).toMatchObject({ attempt: 3, conversation: { stored: null, said: ['first'] } })
  })
})
