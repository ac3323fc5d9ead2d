import { describe, expect, it } from 'vitest'
import type { Submission } from '../../contract/deliverable/deliverable.ts'
import { lives, type Place, places, readied, rejected } from '../../testing/task/lives.ts'
import { rulesWith } from '../../testing/task/world.ts'
import type { TaskState } from '../task/state.ts'
import { decisionFor, failureOf, verdictOf } from './deliverable.ts'

const clean = () => lives['done: clean']().state

/** A submission of what the task decided on last, but for what a test says. */
function submission(task: TaskState, more: Partial<Submission['subject']> = {}): Submission {
  const content = task.done?.content ?? 'none'
  const subject = task.decided.at(-1)?.subject ?? { content, criteria: 'c', rubric: 'r', policy: 'p' }
  return {
    submission: 1,
    kind: 'file',
    title: 'Report',
    producer: 'dev',
    task: 'mission/task',
    subject: { ...subject, ...more },
    snapshot: 's',
    digest: 'd',
  }
}

describe('the decision on a deliverable', () => {
  it('is the latest on exactly its content, criteria, rubric and policy', () => {
    const task = clean()
    const [decided] = task.decided
    expect(decisionFor(submission(task), task)).toBe(decided)
    for (const part of ['content', 'criteria', 'rubric', 'policy'])
      expect(decisionFor(submission(task, { [part]: 'other' }), task)).toBeUndefined()
    const twice = { ...task, decided: task.decided.flatMap((one) => [one, { ...one, review: 9 }]) }
    expect(decisionFor(submission(task), twice)?.review).toBe(9)
  })
})

describe('the verdict that a producer hears', () => {
  const heard: Partial<Record<Place, string>> = {
    'done: clean': 'PASS',
    'done: owner-accepted': 'OWNER-ACCEPTED',
    'done: below-threshold': 'FAIL',
    failed: 'FAIL',
    skipped: 'FAIL',
  }

  it.each(places)('of a task that is %s', (place) => {
    const task = lives[place]().state
    expect(verdictOf(submission(task), task)).toBe(heard[place] ?? 'PENDING')
    if (task.status === 'done') expect(verdictOf(submission(task, { content: 'other' }), task)).toBe('PENDING')
  })

  it('is a need for revision while the work goes back, and nothing yet without a review', () => {
    const task = rejected(readied(rulesWith()), 'one').state
    expect(verdictOf(submission(task), task)).toBe('NEEDS_REVISION')
    expect(verdictOf(submission(clean()), undefined)).toBe('PENDING')
  })
})

it('a failure is told by what was found wanting last; where nothing was, by what it was given up for', () => {
  const { ledger } = rejected(readied(rulesWith()), 'one').state
  const [entry] = ledger
  if (!entry) throw new Error('nothing was rejected')
  expect(failureOf({ ledger: [{ ...entry, concern: 'It is short. ' }] }, 'the owner: no')).toBe('It is short')
  const passed = { ...entry, outcome: 'pass' as const, concern: 'Nothing stands in the way.' }
  expect(failureOf({ ledger: [entry, passed] }, 'the owner: no.')).toBe('the owner: no')
  expect(failureOf({ ledger: [passed] })).toBe('it was given up')
})
