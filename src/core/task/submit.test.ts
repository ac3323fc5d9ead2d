import { describe, expect, it } from 'vitest'
import type { CheckSpec } from '../../contract/check.ts'
import type { History } from '../../testing/task/given.ts'
import { crash } from '../../testing/task/lives.ts'
import { checks, contentOf, created, fullCase, noContent, start, submit } from '../../testing/task/steps.ts'
import { rulesWith, specWith } from '../../testing/task/world.ts'

const twoChecks: CheckSpec[] = [
  { kind: 'file', path: 'core.txt' },
  { kind: 'text', id: 'hello', contains: ['hello'] },
]
const begun = (conversational: boolean, review = {}, spec = {}) => created(rulesWith(review), spec).when(start(conversational))
const badCase = (task: History) => task.when(submit(task.state, 'one', { raw: '{"summary":"s"}' }))
const quiet = (task: History) => task.when({ type: 'report_quiet', attempt: task.state.attempts })
/** Submits and reports the checks; the first fails. */
const failChecks = (task: History, text = 'one') => {
  task.when(submit(task.state, text))
  return task.when(checks(task.state, ['fail', 'pass']))
}

describe('a case', () => {
  it('that can be read goes to the checks, with what it argues and what the work is', () => {
    const task = begun(false)
    task.when({ ...submit(task.state, 'one'), usage: { inputTokens: 7 } } as never)
    expect(task.emitted).toEqual(['case.submitted'])
    expect(task.last('case.submitted')).toEqual({
      attempt: 1,
      submission: 1,
      case: JSON.parse(fullCase(specWith())),
      implicit: false,
      content: contentOf('one'),
      usage: { inputTokens: 7 },
    })
    expect(task.state.contents[contentOf('one').digest]).toEqual(contentOf('one'))
  })

  it('that carries no cost says nothing about it', () => {
    const task = begun(false)
    task.when(submit(task.state, 'one'))
    expect(task.last('case.submitted')).not.toHaveProperty('usage')
  })

  it('is built from the output of a command that printed none, marked implicit, exempt from coverage', () => {
    const task = begun(false)
    task.when(submit(task.state, 'Did it.', { raw: null }))
    expect(task.last('case.submitted')).toMatchObject({ implicit: true, case: { summary: 'Did it.', ac_coverage: [] } })
    expect(task.when(checks(task.state)).state.status).toBe('in_review')
  })

  it('is never built for a conversational worker', () => {
    const task = begun(true)
    expect(task.refusal(submit(task.state, 'one', { raw: null }))).toBe('bad_command')
  })

  it('belongs to the open attempt: an older one is stale', () => {
    const task = crash(created(rulesWith({ maxAttempts: 3 }))).when(start())
    expect(task.refusal({ ...submit(task.state, 'one'), attempt: 1 } as never)).toBe('stale_attempt')
    expect(task.refusal({ ...submit(task.state, 'one'), attempt: 3 } as never)).toBe('stale_attempt')
  })

  it('that cannot be read ends a one-shot worker’s attempt, with the error as feedback and no judge asked', () => {
    const task = badCase(begun(false))
    expect(task.emitted).toEqual(['case.parse_error', 'attempt.rejected', 'task.returned'])
    expect(task.last('case.parse_error')).toEqual({
      attempt: 1,
      problems: [expect.stringContaining('ac_coverage')],
      raw: '{"summary":"s"}',
    })
    expect(task.last('attempt.rejected')).toMatchObject({ attempt: 1, category: 'acceptance_gap', cause: 'case', reports: [] })
    expect(task.state.feedback?.points).toEqual([
      { ref: 'P1', source: 'runtime', from: 'rejected', text: expect.stringContaining('ac_coverage') },
    ])
    expect(task.state.ledger).toEqual([
      {
        entry: 1,
        attempt: 1,
        source: 'mechanical',
        outcome: 'reject',
        category: 'acceptance_gap',
        concern: expect.stringContaining('ac_coverage'),
        points: [],
        pointers: [],
      },
    ])
    expect(task.state).toMatchObject({ status: 'todo', charged: 1 })
  })

  it('that cannot be read is answered to a conversational worker exactly maxCaseErrors times per attempt', () => {
    const task = begun(true, { maxCaseErrors: 3 })
    for (let error = 1; error <= 3; error += 1) expect(badCase(task).emitted).toEqual(['case.parse_error'])
    expect(task.state.status).toBe('running')
    expect(badCase(task).emitted).toEqual(['case.parse_error', 'attempt.rejected', 'task.returned'])
    task.when(start(true))
    expect(badCase(task).emitted).toEqual(['case.parse_error'])
  })

  it('that could not be read where it came in is one that cannot be read, as any other', () => {
    const refusal = (task: History) => task.when({ type: 'refuse_case', attempt: task.state.attempts, problems: ['too long'], raw: '{"su' })
    const task = begun(true, { maxCaseErrors: 1 })
    expect(refusal(task).emitted).toEqual(['case.parse_error'])
    expect(task.last('case.parse_error')).toEqual({ attempt: 1, problems: ['too long'], raw: '{"su' })
    expect(refusal(task).emitted).toEqual(['case.parse_error', 'attempt.rejected', 'task.returned'])
    expect(task.last('attempt.rejected')).toMatchObject({ cause: 'case', detail: expect.stringContaining('too long') })
    expect(task.refusal({ type: 'refuse_case', attempt: 1, problems: ['late'], raw: '' })).toBe('wrong_status')
    expect(refusal(begun(false)).emitted).toContain('attempt.rejected')
  })

  it.each([
    ['a case that cannot be read', (task: History) => ({ ...submit(task.state, 'one', { raw: '{}' }), usage: { costUsd: 2 } })],
    ['silence', ({ state }: History) => ({ type: 'report_quiet' as const, attempt: state.attempts, usage: { costUsd: 2 } })],
  ])('by %s: what was used is told when the attempt is over, and not before', (_, command) => {
    const task = begun(true, { maxCaseErrors: 1 })
    task.when(command(task) as never)
    expect(task.state.status).toBe('running')
    expect(JSON.stringify(task.events)).not.toContain('usage')
    task.when(command(task) as never)
    expect(task.last('attempt.rejected')).toMatchObject({ usage: { costUsd: 2 } })
  })

  it('may be corrected within the attempt, and errors count over all its submissions', () => {
    const task = badCase(begun(true, { maxCaseErrors: 1 }, { checks: twoChecks }))
    failChecks(task)
    expect(task.state).toMatchObject({ status: 'running', current: { submission: 1, caseErrors: 1, checkFailures: 1 } })
    expect(badCase(task).emitted).toContain('attempt.rejected')
  })
})

describe('nothing delivered', () => {
  it('is rejected before any check or judge', () => {
    const task = begun(true)
    task.when(submit(task.state, '', { content: noContent }))
    expect(task.emitted).toEqual(['case.submitted', 'attempt.rejected', 'task.returned'])
    expect(task.last('attempt.rejected')).toMatchObject({
      category: 'acceptance_gap',
      cause: 'empty',
      reports: [],
      detail: expect.stringContaining('nothing'),
    })
    expect(task.state.feedback?.summary).toContain('nothing was delivered')
  })

  it('goes to the checks where the task expects no change, or a check proves every criterion', () => {
    const proven: CheckSpec[] = [{ kind: 'http', url: 'http://example.org', proves: ['AC1', 'AC2'] }]
    for (const spec of [{ expectsDiff: false }, { checks: proven }]) {
      const task = begun(false, {}, spec)
      expect(task.when(submit(task.state, '', { content: noContent })).state.status).toBe('checking')
    }
  })
})

describe('going quiet', () => {
  it('is answered with one reminder per attempt, then the attempt is rejected', () => {
    const task = quiet(begun(true))
    expect(task.latest).toEqual([{ type: 'worker.reminded', data: { attempt: 1 } }])
    expect(task.state.status).toBe('running')
    expect(quiet(task).emitted).toEqual(['attempt.rejected', 'task.returned'])
    expect(task.last('attempt.rejected')).toMatchObject({
      cause: 'quiet',
      reports: [],
      category: 'acceptance_gap',
      detail: expect.stringContaining('without submitting a case'),
    })
    expect(quiet(task.when(start(true))).emitted).toEqual(['worker.reminded'])
  })

  it('is nothing that a one-shot worker can do', () => {
    const task = begun(false)
    expect(task.refusal({ type: 'report_quiet', attempt: 1 })).toBe('bad_command')
  })
})

describe('checks', () => {
  const checking = (conversational = false, review = {}) => {
    const task = begun(conversational, review, { checks: twoChecks })
    return task.when(submit(task.state, 'one'))
  }

  it('that all pass open the review', () => {
    const task = checking()
    task.when(checks(task.state))
    expect(task.emitted).toEqual(['checks.passed', 'review.opened', 'seat.asked', 'seat.asked'])
    expect(task.last('checks.passed')).toMatchObject({
      attempt: 1,
      submission: 1,
      content: contentOf('one').digest,
      reports: [{ id: 'file-1' }, { id: 'hello' }],
    })
    expect(task.state.current?.checksPassed).toBe(true)
  })

  it.each(['fail', 'error'] as const)('that %s end a one-shot worker’s attempt, no judge asked, the report as feedback', (outcome) => {
    const task = checking()
    task.when(checks(task.state, ['pass', outcome]))
    expect(task.emitted).toEqual(['checks.failed', 'attempt.rejected', 'task.returned'])
    expect(task.last('checks.failed').reports).toHaveLength(2)
    expect(task.last('attempt.rejected')).toMatchObject({
      cause: 'checks',
      category: 'acceptance_gap',
      detail: expect.stringMatching(/: hello\.$/),
    })
    expect(task.last('attempt.rejected').reports.map((report) => report.id)).toEqual(['hello'])
    expect(task.state.feedback?.points).toEqual([{ ref: 'P1', source: 'check', from: 'hello', text: expect.stringContaining(outcome) }])
    expect(task.state.feedback?.checks.map((report) => report.id)).toEqual(['hello'])
    expect(task.state.status).toBe('todo')
  })

  it('that fail are answered to a conversational worker exactly maxCheckRetries times per attempt', () => {
    const task = begun(true, { maxCheckRetries: 2 }, { checks: twoChecks })
    for (const text of ['one', 'two']) expect(failChecks(task, text).emitted).toEqual(['checks.failed'])
    expect(task.state).toMatchObject({ status: 'running', current: { checksPassed: false, submission: 2 } })
    expect(failChecks(task, 'three').emitted).toEqual(['checks.failed', 'attempt.rejected', 'task.returned'])
    task.when(start(true))
    expect(failChecks(task, 'four').emitted).toEqual(['checks.failed'])
  })

  it('that fail end a conversational worker’s attempt at once with no retries', () => {
    expect(failChecks(begun(true, { maxCheckRetries: 0 }, { checks: twoChecks })).state.status).toBe('todo')
  })

  it('must all be reported: one that did not run is not a pass', () => {
    const task = checking()
    const command = checks(task.state) as Extract<ReturnType<typeof checks>, { type: 'report_checks' }>
    expect(task.refusal({ ...command, reports: command.reports.slice(1) })).toBe('bad_command')
    expect(task.refusal({ ...command, reports: [] })).toBe('bad_command')
  })

  it('of other tasks count as well: a regression keeps the work from the judges', () => {
    const task = checking()
    const command = checks(task.state) as Extract<ReturnType<typeof checks>, { type: 'report_checks' }>
    const foreign = { id: 'other/file-1', kind: 'file', outcome: 'fail' as const, summary: 'gone', output: '', findings: [] }
    task.when({ ...command, reports: [...command.reports, foreign] })
    expect(task.emitted).toContain('checks.failed')
    expect(task.state.feedback?.points.map((point) => point.from)).toEqual(['other/file-1'])
  })

  it('of one id that both pass and fail do not pass', () => {
    const task = checking()
    const command = checks(task.state) as Extract<ReturnType<typeof checks>, { type: 'report_checks' }>
    const [first] = command.reports
    if (!first) throw new Error('no report')
    task.when({ ...command, reports: [...command.reports, { ...first, outcome: 'fail' }] })
    expect(task.emitted[0]).toBe('checks.failed')
  })

  it('of an older submission or attempt are stale', () => {
    const task = failChecks(begun(true, {}, { checks: twoChecks }))
    task.when(submit(task.state, 'two'))
    expect(task.refusal({ ...checks(task.state), submission: 1 } as never)).toBe('stale_submission')
    expect(task.refusal({ ...checks(task.state), attempt: 2 } as never)).toBe('stale_attempt')
    expect(task.when(checks(task.state)).state.panel).toMatchObject({ submission: 2 })
  })

  it('run with evaluation off too, and only work that passes them is accepted, unreviewed', () => {
    const failing = checking(false, { evaluate: false })
    expect(failing.when(checks(failing.state, ['fail'])).state.status).toBe('todo')
    const passing = checking(false, { evaluate: false })
    passing.when(checks(passing.state))
    expect(passing.emitted).toEqual(['checks.passed', 'task.accepted'])
    expect(passing.last('task.accepted')).toEqual({
      flag: 'unreviewed',
      attempt: 1,
      content: contentOf('one').digest,
      why: 'evaluation is off',
    })
    expect(passing.state.done).toEqual({ flag: 'unreviewed', content: contentOf('one').digest })
  })
})
