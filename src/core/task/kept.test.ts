import { describe, expect, it } from 'vitest'
import type { TaskCommand } from '../../contract/commands/task.ts'
import { lives, readied, upstream } from '../../testing/task/lives.ts'
import {
  attemptUpToReview,
  checks,
  contentOf,
  created,
  freshNonce,
  mergedAs,
  mergeReport,
  openSeats,
  opine,
  reply,
  start,
  submit,
} from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

const full = { panel: { mode: 'full' as const } }
const vetoing = { accept: false, score: 2, met: { AC1: 'no' as const }, evidence: ['core.txt:1'] }

describe('what is kept of a judge’s answer', () => {
  it('is what it was asked with and where it was taken from, as far as that is known', () => {
    const task = lives.in_review()
    const known = { prompt: 'p1', question: 'q1', reused: { task: 'mission/other', review: 3 } }
    task.when({ ...opine(task.state, 1, { accept: true }), ...known })
    expect(task.last('verdict.recorded')).toMatchObject(known)
    task.when(opine(task.state, 2, { accept: true }))
    for (const key of Object.keys(known)) expect(task.last('verdict.recorded')).not.toHaveProperty(key)
  })

  it('is what it cost, where it could be read and where it could not', () => {
    const usage = { inputTokens: 7, outputTokens: 3 }
    const task = lives.in_review()
    task.when({ ...reply(task.state, 1, 'well, fine'), usage }).when({ ...opine(task.state, 2, { accept: true }), usage })
    expect(task.last('task.eval.unparsed').usage).toEqual(usage)
    expect(task.last('verdict.recorded').sitting.usage).toEqual(usage)
  })
})

describe('a veto in a review that is broken off', () => {
  const vetoed = () => {
    const task = attemptUpToReview(readied(rulesWith(full)), 'one')
    return task.when(opine(task.state, 1, vetoing))
  }

  it('stands when the policy changes', () => {
    const task = vetoed()
    const { dimensions, checks: same } = task.state.spec
    task.when(
      { type: 'adopt_policy', nonce: freshNonce(), bar: 70, dimensions, checks: same, by: 'ann' },
      rulesWith({ ...full, threshold: 70 }),
    )
    expect(task.emitted.slice(0, 3)).toContain('veto.raised')
    expect(task.state.vetoes).toMatchObject([{ criterion: 'AC1', judge: 'qa' }])
  })

  it('stands when an input lands with other content', () => {
    const task = vetoed().when({ type: 'input_reopened', task: 'mission/up' })
    task.when({ type: 'input_landed', input: upstream('d2'), nonce: freshNonce() })
    expect(task.emitted).toContain('review.abandoned')
    expect(task.state.vetoes).toMatchObject([{ criterion: 'AC1', judge: 'qa' }])
  })
})

describe('a decision on the same content', () => {
  const vetoed = () => {
    const task = attemptUpToReview(created(rulesWith({ ...full, maxAttempts: 9 })), 'one')
    for (const seat of openSeats(task.state)) task.when(opine(task.state, seat, vetoing))
    expect(task.state.vetoes.length).toBeGreaterThan(0)
    return task
  }

  it('stands where it is a rejection, whatever vetoes do: nobody is asked again', () => {
    const task = attemptUpToReview(vetoed(), 'one')
    expect(task.count('decision.reused')).toBe(1)
    expect(task.count('review.opened')).toBe(1)
    expect(task.last('task.force_accepted')).toMatchObject({ why: 'stagnated' })
  })

  it('stands where the owner turned it to a pass, over the vetoes that it was turned against', () => {
    const task = vetoed().when({ type: 'overrule_task', outcome: 'pass', by: 'ann', reason: 'fine' })
    expect(task.state.done?.flag).toBe('owner-accepted')
    task.when({ type: 'reopen_task', by: 'ann', reason: 'once more' })
    attemptUpToReview(task, 'one')
    expect(task.count('decision.reused')).toBe(1)
    expect(task.state.done?.flag).toBe('owner-accepted')
  })
})

describe('a task behind gates', () => {
  const waiting = () => created(rulesWith(), { gates: ['a', 'b'] })

  it('is readied once all of them let it through, and told which do not', () => {
    const refused = (gates?: string[]) => {
      const task = waiting()
      const command: TaskCommand = { type: 'ready_task', inputs: [], ...(gates && { gates }) }
      return [task.refusal(command), () => task.when(command)] as const
    }
    const [code, decide] = refused(['a'])
    expect(code).toBe('inputs_incomplete')
    expect(decide).toThrow(/gate b$/)
    expect(refused()[1]).toThrow(/gate a, b$/)
    expect(waiting().when({ type: 'ready_task', inputs: [], gates: ['b', 'a'] }).state.status).toBe('todo')
  })

  it('knows of no input that could be reopened while it waits, fails or is skipped', () => {
    const reopened = { type: 'input_reopened', task: 'mission/up' } as const
    expect(lives.failed().refusal(reopened)).toBe('wrong_status')
    expect(lives.waiting().refusal(reopened)).toBe('not_found')
    expect(lives.skipped().refusal(reopened)).toBe('not_found')
  })
})

describe('a merge that changed what was reviewed', () => {
  it('has its checks behind it, and one fresh panel before it', () => {
    const rules = rulesWith({ onUnreadable: 'rejudge', panel: { mode: 'full', size: 2 } })
    const task = created(rules, { workspace: { kind: 'worktree' } }).when(start())
    task.when(submit(task.state, 'work'))
    task.when(checks(task.state))
    for (const seat of openSeats(task.state)) task.when(opine(task.state, seat, { accept: true }))
    const other = contentOf('merged otherwise')
    task.when(mergeReport(contentOf('work').digest, mergedAs(other)))
    expect(task.state).toMatchObject({ behind: true, current: { content: other, checksPassed: true, rejudged: false } })
    expect(task.state.contents[other.digest]).toEqual(other)
  })

  it('is told with what could not be merged, both in the feedback and in the ledger', () => {
    const task = created(rulesWith({ panel: { mode: 'full', size: 2 } }), { workspace: { kind: 'worktree' } }).when(start())
    task.when(submit(task.state, 'work'))
    task.when(checks(task.state))
    for (const seat of openSeats(task.state)) task.when(opine(task.state, seat, { accept: true }))
    const paths = ['core.txt', 'other.txt']
    task.when(mergeReport(contentOf('work').digest, { kind: 'conflict', paths, detail: 'both changed' }))
    expect(task.last('merge.failed')).toMatchObject({ cause: 'conflict', paths, reports: [] })
    expect(task.state.ledger.at(-1)).toMatchObject({ pointers: paths, points: [], concern: 'both changed' })
  })
})
