import { describe, expect, it } from 'vitest'
import { accepted, crash, readied, rejected, upstream } from '../../testing/task/lives.ts'
import { attemptUpToReview, created, start, submit } from '../../testing/task/steps.ts'
import { rulesWith, specWith } from '../../testing/task/world.ts'
import { principalOf } from '../routing/principal.ts'
import { isFinished } from './decide.ts'

const rules = rulesWith()

describe('creating a task', () => {
  it('without dependencies makes it ready at once, with them it waits', () => {
    expect(created(rules).emitted).toEqual(['task.created', 'task.readied'])
    expect(created(rules).state).toMatchObject({ status: 'todo', inputs: [] })
    const waiting = created(rules, { dependsOn: ['mission/up'] })
    expect(waiting.emitted).toEqual(['task.created'])
    expect(waiting.state.status).toBe('waiting')
  })

  it('binds it to its policy', () => {
    expect(created(rules).last('task.created')).toEqual({ spec: specWith(), policy: rules.digest })
  })

  it.each(['nobody', 'constructor', 'toString'])('is refused for the assignee %s, who is no agent', (assignee) => {
    const fresh = created(rules)
    fresh.maybe = undefined
    expect(fresh.refusal({ type: 'create_task', spec: specWith({ assignee }) })).toBe('bad_command')
  })
})

describe('an attempt', () => {
  it('begins with who works, as which principal, and in what company', () => {
    const task = created(rules).when({
      type: 'start_attempt',
      worker: 'dev',
      conversational: true,
      participants: ['qa3'],
      sandboxed: false,
      work: 'w1',
    })
    expect(task.latest).toEqual([
      {
        type: 'attempt.started',
        data: {
          attempt: 1,
          worker: 'dev',
          principal: principalOf('dev', rules.policy),
          conversational: true,
          participants: ['qa3'],
          sandboxed: false,
          work: 'w1',
        },
      },
    ])
    expect(task.state).toMatchObject({
      status: 'running',
      attempts: 1,
      charged: 1,
      authors: ['dev', 'qa3'],
      current: { worker: 'dev', conversational: true, submission: 0 },
    })
  })

  it('knows the work item that began it, where there is one', () => {
    const begun = { type: 'start_attempt' as const, worker: 'dev', conversational: false, participants: [], sandboxed: true }
    expect(created(rules).when({ ...begun, work: 'w1' }).state.current?.work).toBe('w1')
    const without = created(rules).when(begun)
    expect(without.last('attempt.started')).not.toHaveProperty('work')
    expect(without.state.current).not.toHaveProperty('work')
  })

  it('is the assignee’s alone', () => {
    expect(created(rules).refusal(start(false, 'qa'))).toBe('not_assignee')
  })

  it('is refused when all are used up', () => {
    const task = crash(crash(created(rulesWith({ maxAttempts: 2 }))))
    expect(task.state.hold?.reason).toBe('exhausted_unscored')
    const stuck = { ...task.state, status: 'todo' as const }
    task.maybe = stuck
    expect(task.refusal(start())).toBe('attempts_used_up')
    task.maybe = { ...stuck, granted: 1 }
    expect(task.refusal(start())).toBeUndefined()
  })

  it('remembers everybody who joins, over all attempts, and none of them judges', () => {
    const task = created(rules).when(start())
    task.when({ type: 'join_attempt', attempt: 1, participant: 'qa' })
    expect(task.emitted).toEqual(['attempt.joined'])
    task.when({ type: 'fail_attempt', attempt: 1, failure: 'exit', detail: 'exit 1' })
    attemptUpToReview(task, 'one')
    expect(task.state.authors).toEqual(['dev', 'qa'])
    expect(task.state.panel?.roster.map((one) => one.judge)).toEqual(['qa2', 'qa3', 'lead'])
  })

  it('that fails is charged and goes back with what happened', () => {
    const usage = { outputTokens: 3 }
    const task = created(rules)
      .when(start())
      .when({ type: 'fail_attempt', attempt: 1, failure: 'timeout', detail: 'too slow', output: 'half', usage })
    expect(task.emitted).toEqual(['attempt.failed', 'task.returned'])
    expect(task.last('attempt.failed')).toEqual({ attempt: 1, failure: 'timeout', detail: 'too slow', output: 'half', usage })
    expect(task.state).toMatchObject({ status: 'todo', charged: 1 })
    expect(task.state.feedback).toMatchObject({
      category: null,
      summary: 'too slow',
      points: [{ ref: 'P1', source: 'runtime', from: 'timeout' }],
      notes: [],
    })
    expect(task.state.ledger).toEqual([])
  })

  it('that fails without output or cost says nothing about them', () => {
    expect(Object.keys(crash(created(rules)).last('attempt.failed'))).toEqual(['attempt', 'failure', 'detail'])
    const silent = created(rules).when(start()).when({ type: 'fail_attempt', attempt: 1, failure: 'exit', detail: 'exit 1', output: '' })
    expect(silent.last('attempt.failed').output).toBe('')
  })

  it('that was cut off by a crash is charged and goes back with a warning of partial effects', () => {
    const task = created(rules).when(start()).when({ type: 'interrupt_attempt', attempt: 1, detail: 'power cut' })
    expect(task.latest[0]).toEqual({ type: 'attempt.interrupted', data: { attempt: 1, detail: 'power cut' } })
    expect(task.last('task.returned')).toMatchObject({
      attempt: 1,
      feedback: { summary: 'power cut', notes: [expect.stringContaining('partial effects')] },
    })
    expect(task.state.feedback?.checks).toEqual([])
    expect(task.state.charged).toBe(1)
  })

  it('that was cut off as the last one waits for the operator; the one that is granted is warned all the same', () => {
    const task = created(rulesWith({ maxAttempts: 1 }))
      .when(start())
      .when({ type: 'interrupt_attempt', attempt: 1, detail: 'power cut' })
    expect(task.state.hold).toMatchObject({ reason: 'exhausted_unscored', from: 'running' })
    const { request } = task.last('operator.requested')
    task.when({ type: 'answer_request', request, answer: 'retry', by: 'owner', reason: '', nonce: 'nonce-001' })
    expect(task.state.feedback?.notes.join()).toContain('partial effects')
  })

  it('that a clean stop ended is not charged', () => {
    const task = created(rulesWith({ maxAttempts: 1 }))
      .when(start())
      .when({ type: 'stop_attempt', attempt: 1, detail: 'SIGTERM' })
    expect(task.latest).toEqual([{ type: 'attempt.stopped', data: { attempt: 1, detail: 'SIGTERM' } }])
    expect(task.state).toMatchObject({ status: 'todo', attempts: 1, charged: 0 })
    attemptUpToReview(task, 'one')
    expect(task.state).toMatchObject({ status: 'in_review', attempts: 2, charged: 1 })
  })

  it('that was stopped keeps the feedback of the round before', () => {
    const task = rejected(created(rules), 'one').when(start()).when({ type: 'stop_attempt', attempt: 2, detail: 'SIGTERM' })
    expect(task.state.feedback?.points[0]?.text).toBe('Add what is missing.')
  })

  it('whose work fails leaves what the judges asked for to the next review', () => {
    const task = crash(rejected(created(rulesWith({ maxAttempts: 3 })), 'one', { nextStep: 'Say hello.' }))
    expect(task.state.feedback?.summary).toBe('exit 3')
    attemptUpToReview(task, 'two')
    expect(task.state.panel?.points.map((point) => `${point.ref} ${point.from}: ${point.text}`)).toEqual([
      'P1 qa: Say hello.',
      'P2 qa2: Say hello.',
    ])
  })

  it('that ended takes no further words', () => {
    const task = crash(created(rules))
    for (const type of ['interrupt_attempt', 'stop_attempt'] as const)
      expect(task.refusal({ type, attempt: 1, detail: '' })).toBe('wrong_status')
    expect(task.refusal({ type: 'join_attempt', attempt: 2, participant: 'qa' })).toBe('stale_attempt')
  })
})

describe('readiness', () => {
  const waiting = () => created(rules, { dependsOn: ['mission/up', 'mission/side'] })
  const side = upstream('s1', 'mission/side')

  it('binds the task to what it was given', () => {
    const task = waiting().when({ type: 'ready_task', inputs: [side, upstream()] })
    expect(task.latest).toEqual([{ type: 'task.readied', data: { inputs: [side, upstream()] } }])
    expect(task.state).toMatchObject({ status: 'todo', inputs: [side, upstream()] })
  })

  it.each([
    ['one is missing', [upstream()]],
    ['all are missing', []],
    ['one is given twice', [upstream(), side, side]],
    ['one is given twice in place of another', [upstream(), upstream()]],
    ['one is no dependency', [upstream(), side, upstream('x', 'mission/foreign')]],
    ['one stands in for another', [upstream(), upstream('x', 'mission/foreign')]],
  ])('is refused where %s', (_what, inputs) => {
    expect(waiting().refusal({ type: 'ready_task', inputs })).toBe('inputs_incomplete')
  })

  it('names what is missing', () => {
    const task = waiting()
    expect(() => task.when({ type: 'ready_task', inputs: [upstream()] })).toThrow(/mission\/side/)
  })
})

describe('other ends', () => {
  it('a task whose dependency failed is skipped, saying so', () => {
    const task = created(rules, { dependsOn: ['mission/up'] }).when({ type: 'skip_task', because: 'mission/up failed' })
    expect(task.latest).toEqual([{ type: 'task.skipped', data: { because: 'mission/up failed' } }])
  })

  it('failing a task ends its attempt and its review: late cases and verdicts find nothing open', () => {
    const running = created(rules).when(start()).when({ type: 'fail_task', reason: 'deadline' })
    expect(running.latest).toEqual([{ type: 'task.failed', data: { reason: 'deadline' } }])
    expect(running.refusal(submit(running.state, 'late'))).toBe('wrong_status')
    const reviewed = attemptUpToReview(created(rules), 'one').when({ type: 'fail_task', reason: 'deadline' })
    expect(reviewed.state.panel).toBeUndefined()
    expect(reviewed.state.done).toBeUndefined()
  })

  it('an unfinished task may be told from a finished one', () => {
    expect(isFinished(accepted(created(rules), 'one').state)).toBe(true)
    expect(isFinished(readied(rules).when({ type: 'fail_task', reason: 'x' }).state)).toBe(true)
    expect(isFinished(created(rules, { dependsOn: ['x'] }).when({ type: 'skip_task', because: 'x' }).state)).toBe(true)
    expect(isFinished(created(rules).state)).toBe(false)
  })
})

describe('a hold', () => {
  it.each(['budget', 'operator'] as const)('for %s says why, from where, and asks the operator', (reason) => {
    const task = created(rules).when({ type: 'hold_task', reason, detail: 'stop here' })
    expect(task.latest).toEqual([
      { type: 'task.held', data: { reason, from: 'todo', detail: 'stop here' } },
      { type: 'operator.requested', data: { request: 'mission/task#1', kind: 'held', detail: 'stop here', answers: ['retry', 'fail'] } },
    ])
    expect(task.state.requests).toEqual([{ request: 'mission/task#1', answers: ['retry', 'fail'], about: reason }])
  })

  it('offers to accept where there is work to accept', () => {
    const task = attemptUpToReview(created(rules), 'one').when({ type: 'hold_task', reason: 'budget', detail: 'spent' })
    expect(task.last('operator.requested').answers).toEqual(['retry', 'accept', 'fail'])
  })
})
