import { describe, expect, it } from 'vitest'
import type { ReviewSettings } from '../../contract/config/review.ts'
import type { History } from '../../testing/task/given.ts'
import { answer, crash, readied, rejected, upstream } from '../../testing/task/lives.ts'
import { created, freshNonce, start } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

/** A policy with one attempt takes over, where there were three. */
function adoptOneAttempt(task: History, review: Partial<Omit<ReviewSettings, 'panel'>> = {}): History {
  const rules = rulesWith({ maxAttempts: 1, ...review })
  const { bar, dimensions, checks } = task.state.spec
  task.when({ type: 'adopt_policy', nonce: freshNonce(), bar, dimensions, checks, by: 'ann' }, rules)
  return Object.assign(task, { rules })
}

const three = () => readied(rulesWith({ maxAttempts: 3 }))

describe('a task with no attempt left never waits for one', () => {
  it('after a clean stop under a policy with fewer attempts', () => {
    const task = adoptOneAttempt(crash(three()).when(start()))
    expect(task.state.status).toBe('running')
    task.when({ type: 'stop_attempt', attempt: 2, detail: 'stopped' })
    expect(task.emitted).toEqual(['attempt.stopped', 'task.held', 'operator.requested'])
    expect(task.state).toMatchObject({ status: 'held', hold: { reason: 'exhausted_unscored' }, charged: 1 })
    answer(task, 'retry').when(start())
    expect(task.state.status).toBe('running')
  })

  it('after a clean stop, with a graded attempt to take', () => {
    const task = rejected(three(), 'one').when(start())
    adoptOneAttempt(task, { forceAccept: 'best' }).when({ type: 'stop_attempt', attempt: 2, detail: 'stopped' })
    // The decision was made under another policy: nothing is force-accepted on it.
    expect(task.state).toMatchObject({ status: 'held', hold: { reason: 'exhausted_unscored' } })
  })

  it('after a hold, which the owner ends with another try', () => {
    const task = crash(three()).when({ type: 'hold_task', reason: 'operator', detail: 'wait' })
    answer(adoptOneAttempt(task), 'retry')
    expect(task.emitted).toEqual(['operator.answered', 'hold.lifted', 'attempts.granted'])
    expect(task.when(start()).state.status).toBe('running')
  })

  it('after an input that came back unchanged', () => {
    const task = crash(three()).when({ type: 'input_reopened', task: 'mission/up' })
    adoptOneAttempt(task).when({ type: 'input_landed', input: upstream(), nonce: freshNonce() })
    expect(task.state).toMatchObject({ status: 'held', hold: { reason: 'exhausted_unscored' } })
  })

  it('after a gate that was shut and opened again', () => {
    const opened = { type: 'ready_task' as const, inputs: [], gates: ['gate'] }
    const task = crash(created(rulesWith({ maxAttempts: 3 }), { gates: ['gate'] }).when(opened)).when({ type: 'block_task', gate: 'gate' })
    expect(task.state.status).toBe('waiting')
    adoptOneAttempt(task).when(opened)
    expect(task.emitted).toEqual(['task.readied', 'task.held', 'operator.requested'])
  })

  it('ends as the policy says', () => {
    const task = crash(three()).when(start())
    adoptOneAttempt(task, { onExhausted: 'fail' }).when({ type: 'stop_attempt', attempt: 2, detail: 'stopped' })
    expect(task.state.status).toBe('failed')
  })
})
