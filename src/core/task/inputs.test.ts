import { describe, expect, it } from 'vitest'
import type { History } from '../../testing/task/given.ts'
import { answer, lives, lose, readied, rejected, upstream } from '../../testing/task/lives.ts'
import { attemptUpToReview, checks, created, freshNonce, openSeats, opine, start } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

const reopened = (task: History, name = 'mission/up') => task.when({ type: 'input_reopened', task: name })
const landed = (task: History, digest: string, name = 'mission/up') =>
  task.when({ type: 'input_landed', input: upstream(digest, name), nonce: freshNonce() })

describe('an input that is reopened', () => {
  it('holds the task, says which, and offers no retry', () => {
    const task = reopened(lives.todo())
    expect(task.latest).toEqual([
      { type: 'input.reopened', data: { task: 'mission/up' } },
      { type: 'task.held', data: { reason: 'stale_input', from: 'todo', detail: expect.stringContaining('mission/up') } },
      {
        type: 'operator.requested',
        data: { request: 'mission/task#1', kind: 'held', detail: expect.stringContaining('mission/up'), answers: ['fail'] },
      },
    ])
    expect(task.state.staleInputs).toEqual(['mission/up'])
  })

  it('stops a running attempt, uncharged', () => {
    const task = reopened(lives.running())
    expect(task.emitted).toEqual(['attempt.stopped', 'input.reopened', 'task.held', 'operator.requested'])
    expect(task.last('attempt.stopped')).toEqual({ attempt: 1, detail: expect.stringContaining('mission/up') })
    expect(task.state).toMatchObject({ charged: 0, hold: { from: 'todo' } })
    expect(landed(task, 'd1').state.status).toBe('todo')
  })

  it('holds finished work too, which may be accepted as it is', () => {
    const task = reopened(lives['done: clean']())
    expect(task.last('operator.requested').answers).toEqual(['accept', 'fail'])
    answer(task, 'accept', 'good all the same')
    expect(task.state).toMatchObject({ status: 'done', done: { flag: 'owner-accepted' }, staleInputs: [] })
  })

  it('is no input of a task that was given none of that name', () => {
    expect(lives.todo().refusal({ type: 'input_reopened', task: 'mission/other' })).toBe('not_found')
  })
})

describe('an input that lands with the same content', () => {
  it.each(['todo', 'checking', 'in_review', 'held: escalated', 'held: judge_unavailable', 'done: clean', 'done: below-threshold'] as const)(
    'gives back %s as it was',
    (place) => {
      const task = lives[place]()
      const before = task.state
      landed(reopened(task), 'd1')
      expect(task.last('input.landed')).toEqual({ input: upstream('d1') })
      expect(task.last('hold.lifted')).toEqual({ reason: 'stale_input', to: before.status, why: expect.stringContaining('mission/up') })
      expect(task.state).toEqual({ ...before, requestCount: before.requestCount + 1 })
    },
  )

  it('does not ask judges again, and decides on what they answered meanwhile', () => {
    const task = reopened(lives.in_review())
    task.when(opine(task.state, 1, { accept: true })).when(opine(task.state, 2, { accept: true }))
    expect(task.state.status).toBe('held')
    landed(task, 'd1')
    expect(task.emitted).toEqual(['input.landed', 'hold.lifted', 'review.decided', 'task.accepted'])
    expect(task.count('seat.asked')).toBe(2)
  })

  it('goes on with a restore by asking for it again', () => {
    const task = lives.restoring()
    const { attempt, content } = task.last('restore.requested')
    reopened(task)
    expect(task.refusal({ type: 'confirm_restored', attempt, content })).toBe('wrong_status')
    landed(task, 'd1')
    expect(task.emitted).toEqual(['input.landed', 'hold.lifted', 'restore.requested'])
    expect(task.when({ type: 'confirm_restored', attempt, content }).state.done?.flag).toBe('below-threshold')
  })

  it('brings the hold underneath back, with its own question and answers', () => {
    const task = reopened(lives['held: escalated']())
    expect(task.state).toMatchObject({ hold: { reason: 'stale_input', from: 'held' }, formerHold: { reason: 'escalated' } })
    expect(
      task.refusal({ type: 'answer_request', request: 'mission/task#1', answer: 'retry', by: 'o', reason: '', nonce: freshNonce() }),
    ).toBe('wrong_status')
    landed(task, 'd1')
    expect(task.state.hold?.reason).toBe('escalated')
    expect(task.state.formerHold).toBeUndefined()
    expect(task.state.requests.map((one) => one.request)).toEqual(['mission/task#1'])
    task.when({ type: 'answer_request', request: 'mission/task#1', answer: 'retry', by: 'o', reason: '', nonce: freshNonce() })
    expect(task.state.status).toBe('todo')
  })

  it('lets judges that could not be reached be asked again afterwards', () => {
    const task = landed(reopened(lose(attemptUpToReview(readied(rulesWith()), 'one'))), 'd1')
    expect(task.state.hold?.reason).toBe('judge_unavailable')
    task.when({ type: 'retry_review', nonce: freshNonce() })
    expect(openSeats(task.state).length).toBeGreaterThan(0)
  })
})

describe('an input that lands with other content', () => {
  it.each(['todo', 'checking', 'in_review', 'restoring', 'held: escalated', 'done: clean', 'done: below-threshold'] as const)(
    'sends %s to work again, one attempt granted',
    (place) => {
      const task = landed(reopened(lives[place]()), 'd2')
      expect(task.emitted.filter((type) => type !== 'review.abandoned')).toEqual([
        'input.landed',
        'hold.lifted',
        'task.reopened',
        'attempts.granted',
      ])
      expect(task.last('hold.lifted')).toEqual({ reason: 'stale_input', to: 'todo', why: expect.stringContaining('other content') })
      expect(task.last('task.reopened')).toEqual({ by: 'runtime', reason: expect.stringContaining('mission/up') })
      expect(task.last('attempts.granted').count).toBe(1)
      expect(task.state).toMatchObject({
        status: 'todo',
        granted: 1,
        inputs: [upstream('d2')],
        staleInputs: [],
        inputChanged: false,
        requests: [],
      })
      for (const closed of ['hold', 'formerHold', 'panel', 'restoring', 'done'] as const) expect(task.state[closed], closed).toBeUndefined()
      expect(task.refusal(start())).toBeUndefined()
    },
  )

  it('gives up the review that was open, saying why', () => {
    const task = landed(reopened(lives.in_review()), 'd2')
    expect(task.last('review.abandoned')).toEqual({ review: 1, why: 'input_changed' })
    expect(landed(reopened(lives.todo()), 'd2').count('review.abandoned')).toBe(0)
  })

  it('counts as changed the next time against what it is now', () => {
    const task = landed(reopened(landed(reopened(lives.todo()), 'd2')), 'd2')
    expect(task.state).toMatchObject({ status: 'todo', granted: 1 })
  })
})

describe('several inputs', () => {
  const two = () => {
    const task = created(rulesWith(), { dependsOn: ['mission/up', 'mission/side'] })
    task.when({ type: 'ready_task', inputs: [upstream(), upstream('s1', 'mission/side')] })
    return reopened(reopened(task), 'mission/side')
  }

  it('make one hold and one question', () => {
    const task = two()
    expect(task.emitted).toEqual(['input.reopened'])
    expect(task.state).toMatchObject({ staleInputs: ['mission/up', 'mission/side'], hold: { reason: 'stale_input', from: 'todo' } })
    expect(task.state.requests).toHaveLength(1)
  })

  it('must all land before the task goes on', () => {
    const task = landed(two(), 'd1')
    expect(task.emitted).toEqual(['input.landed'])
    expect(task.state).toMatchObject({ status: 'held', staleInputs: ['mission/side'] })
    expect(task.refusal({ type: 'input_landed', input: upstream('d1'), nonce: freshNonce() })).toBe('not_found')
    expect(landed(task, 's1', 'mission/side').state).toMatchObject({ status: 'todo', granted: 0 })
  })

  it('send the task to work again if any of them changed, in whatever order they land', () => {
    expect(landed(landed(two(), 'd2'), 's1', 'mission/side').state).toMatchObject({ status: 'todo', granted: 1 })
    const last = landed(landed(two(), 's1', 'mission/side'), 'd2')
    expect(last.state).toMatchObject({ granted: 1, inputs: [upstream('d2'), upstream('s1', 'mission/side')] })
  })
})

describe('work under a stale input', () => {
  it('takes no check reports: they are run again when it goes on', () => {
    const task = lives.checking()
    const report = checks(task.state)
    reopened(task)
    expect(task.refusal(report)).toBe('wrong_status')
    landed(task, 'd1')
    expect(task.when(report).state.status).toBe('in_review')
  })

  it('may be failed by the owner, and is then done with', () => {
    const task = answer(reopened(rejected(readied(rulesWith({ maxAttempts: 1 })), 'one')), 'fail')
    expect(task.state).toMatchObject({ status: 'failed', staleInputs: [], requests: [] })
    expect(task.state.done).toBeUndefined()
  })
})

describe('a task that nobody tells what becomes of its inputs', () => {
  const again = { type: 'reopen_task' as const, by: 'ann', reason: 'again' }
  const ready = (task: History, digest: string) => task.when({ type: 'ready_task', inputs: [upstream(digest)] })

  it.each(['failed', 'done: owner-accepted'] as const)('%s, is given them anew when it is opened again', (place) => {
    const task = lives[place]().when(again)
    expect(task.emitted.at(-1)).toBe('task.unreadied')
    expect(task.state.status).toBe('waiting')
    expect(task.refusal(start())).toBe('wrong_status')
    expect(ready(task, 'd2').state).toMatchObject({ status: 'todo', inputs: [upstream('d2')], untold: false })
  })

  it('keeps what the owner said, until it is', () => {
    const task = lives['done: owner-accepted']().when({ type: 'overrule_task', outcome: 'fail', by: 'ann', reason: 'too thin' })
    expect(task.state.status).toBe('waiting')
    expect(ready(task, 'd2').state.feedback?.summary).toContain('too thin')
  })

  it('failed while an input was stale, knows of no stale input any more', () => {
    const task = reopened(lives.todo())
    answer(task, 'fail', 'no use')
    task.when(again)
    expect(task.state).toMatchObject({ status: 'waiting', staleInputs: [], inputChanged: false })
  })

  it('may be accepted while it waits, where there is work of it', () => {
    const pass = { type: 'overrule_task' as const, outcome: 'pass' as const, by: 'ann', reason: 'good enough' }
    expect(lives.failed().when(again).when(pass).state).toMatchObject({ status: 'done', done: { flag: 'owner-accepted' } })
    expect(lives.waiting().refusal(pass)).toBe('wrong_status')
  })

  it('is opened again by one grant, though it was skipped before it could use it', () => {
    const task = lives.failed().when(again)
    const { granted } = task.state
    task.when({ type: 'skip_task', because: 'up is failed' }).when(again)
    expect(task.state).toMatchObject({ status: 'waiting', granted })
  })

  it('goes on by itself again once it was told', () => {
    const task = ready(lives.failed().when(again), 'd2')
    landed(reopened(task), 'd3')
    expect(task.state).toMatchObject({ status: 'todo', inputs: [upstream('d3')] })
  })
})
