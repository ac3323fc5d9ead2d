import { describe, expect, it } from 'vitest'
import type { History } from '../../testing/task/given.ts'
import { accepted, answer, crash } from '../../testing/task/lives.ts'
import { attemptUpToReview, created, opine } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

const full = { panel: { mode: 'full' as const } }
const judges = (task: History) => task.state.panel?.seats.map((seat) => seat.judge)

describe('a veto', () => {
  const vetoing = { accept: false, score: 4, met: { AC1: 'no' as const }, evidence: ['core.txt:1'] }

  /** The first seat vetoes, the others accept. */
  const outvoted = (review = {}) => {
    const task = attemptUpToReview(created(rulesWith({ ...full, ...review })), 'one')
    task.when(opine(task.state, 1, vetoing)).when(opine(task.state, 2, { accept: true }))
    return task.when(opine(task.state, 3, { accept: true }))
  }

  it('blocks acceptance though outvoted, and says so to the worker', () => {
    const task = outvoted()
    expect(task.emitted).toEqual(['verdict.recorded', 'veto.raised', 'review.decided', 'task.returned'])
    expect(task.state.vetoes).toMatchObject([{ criterion: 'AC1', judge: 'qa', review: 1 }])
    expect(task.state.feedback?.notes.join()).toContain('A veto stands: qa found AC1')
  })

  it('stands over the next round until its judge, in the first seat, says yes', () => {
    const task = attemptUpToReview(outvoted({ maxAttempts: 9 }), 'two')
    expect(judges(task)?.[0]).toBe('qa')
    task.when(opine(task.state, 2, { accept: true })).when(opine(task.state, 3, { accept: true }))
    task.when(opine(task.state, 1, { accept: false, score: 3, category: 'half_finished', evidence: [], met: { AC1: 'no' } }))
    expect(task.state).toMatchObject({ status: 'todo', vetoes: [{ criterion: 'AC1' }] })
    accepted(task, 'three')
    expect(task.last('veto.lifted')).toMatchObject({ criterion: 'AC1', by: 'judge' })
    expect(task.state).toMatchObject({ done: { flag: 'clean' }, vetoes: [] })
  })

  it('outlives attempts without a decision', () => {
    expect(crash(outvoted({ maxAttempts: 9 })).state.vetoes).toHaveLength(1)
  })

  it('goes into the force-accept, visibly', () => {
    const task = outvoted({ maxAttempts: 1 })
    expect(task.last('task.force_accepted')).toMatchObject({ vetoes: [{ criterion: 'AC1', judge: 'qa' }], score: { on5: 4 } })
    expect(task.state.done?.flag).toBe('below-threshold')
  })

  it('is lifted by the owner’s accept, each by name', () => {
    const task = outvoted({ maxAttempts: 1, onExhausted: 'escalate' })
    answer(task, 'accept', 'I looked')
    expect(task.emitted).toEqual(['operator.answered', 'veto.lifted', 'task.overruled', 'task.accepted'])
    expect(task.last('veto.lifted')).toMatchObject({ criterion: 'AC1', by: 'owner' })
    expect(task.state.vetoes).toEqual([])
  })

  it('is lifted criterion by criterion', () => {
    const task = attemptUpToReview(created(rulesWith({ ...full, maxAttempts: 9 })), 'one')
    task.when(opine(task.state, 1, { ...vetoing, met: { AC1: 'no', AC2: 'no' } }))
    task.when(opine(task.state, 2, { accept: true })).when(opine(task.state, 3, { accept: true }))
    expect(task.state.vetoes.map((veto) => veto.criterion)).toEqual(['AC1', 'AC2'])
    attemptUpToReview(task, 'two').when(opine(task.state, 1, { accept: false, met: { AC2: 'no' }, evidence: [] }))
    task.when(opine(task.state, 2, { accept: true })).when(opine(task.state, 3, { accept: true }))
    expect(task.state.vetoes.map((veto) => veto.criterion)).toEqual(['AC2'])
  })

  it('of two judges on one criterion is lifted judge by judge', () => {
    const task = attemptUpToReview(created(rulesWith({ ...full, maxAttempts: 9 })), 'one')
    task
      .when(opine(task.state, 1, vetoing))
      .when(opine(task.state, 2, vetoing))
      .when(opine(task.state, 3, { accept: true }))
    expect(task.state.vetoes.map((veto) => veto.judge)).toEqual(['qa', 'qa2'])
    attemptUpToReview(task, 'two').when(opine(task.state, 1, { accept: true }))
    task.when(opine(task.state, 2, { accept: false, met: { AC1: 'no' }, evidence: [] })).when(opine(task.state, 3, { accept: true }))
    expect(task.state.vetoes.map((veto) => veto.judge)).toEqual(['qa2'])
  })

  it('of one judge is not lifted by another’s name', () => {
    const task = attemptUpToReview(created(rulesWith({ ...full, maxAttempts: 9 })), 'one')
    task
      .when(opine(task.state, 1, vetoing))
      .when(opine(task.state, 2, { ...vetoing, met: { AC2: 'no' } }))
      .when(opine(task.state, 3, { accept: true }))
    expect(task.state.vetoes.map((veto) => `${veto.judge} ${veto.criterion}`)).toEqual(['qa AC1', 'qa2 AC2'])
    attemptUpToReview(task, 'two')
      .when(opine(task.state, 1, { accept: true }))
      .when(opine(task.state, 2, { accept: false, met: { AC2: 'no' }, evidence: [] }))
    task.when(opine(task.state, 3, { accept: true }))
    expect(task.state.vetoes.map((veto) => `${veto.judge} ${veto.criterion}`)).toEqual(['qa2 AC2'])
  })
})
