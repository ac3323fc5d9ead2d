import { describe, expect, it } from 'vitest'
import type { TaskCommandOf } from '../../contract/commands/task.ts'
import { lives, places } from '../../testing/task/lives.ts'
import { start } from '../../testing/task/steps.ts'

const record = (content: string): TaskCommandOf<'record_delegations'> => ({
  type: 'record_delegations',
  content,
  delegated: [{ task: 'mission/task.docs', title: 'docs', to: 'dev' }],
  refused: [{ title: 'x', to: 'ghost', why: 'no agent' }],
})

describe('what accepted work proposed', () => {
  it.each(['done: clean', 'done: unreviewed', 'done: owner-accepted'] as const)('is handed on once for each content: %s', (place) => {
    const task = lives[place]()
    const content = task.state.done?.content ?? ''
    task.when(record(content))
    const { type: _type, ...data } = record(content)
    expect(task.latest).toEqual([{ type: 'task.delegated', data }])
    expect(task.state.fannedOut).toEqual([content])
    expect(task.refusal(record(content))).toBe('already_exists')
  })

  it('is not handed on where the work is below the bar', () => {
    const task = lives['done: below-threshold']()
    expect(task.refusal(record(task.state.done?.content ?? ''))).toBe('wrong_status')
  })

  it('is not handed on for other content than the accepted one', () => {
    expect(lives['done: clean']().refusal(record('other'))).toBe('wrong_status')
  })

  it.each(places.filter((place) => !place.startsWith('done')))('is not handed on before it is accepted: %s', (place) => {
    const task = lives[place]()
    expect(task.refusal(record(task.state.current?.content?.digest ?? 'none'))).toBe('wrong_status')
  })
})

describe('a worker that took its task itself', () => {
  const taken = () => lives.todo().when({ ...(start() as TaskCommandOf<'start_attempt'>), outside: true })
  const beat = (worker = 'dev', attempt = 1) => ({ type: 'beat_attempt', attempt, worker }) as const

  it('is remembered as such; one that was started is not', () => {
    expect(taken().last('attempt.started')).toMatchObject({ attempt: 1, worker: 'dev', outside: true })
    expect(taken().state.current?.outside).toBe(true)
    expect(lives.running().last('attempt.started')).not.toHaveProperty('outside')
  })

  it('shows that it is there, itself and in its own attempt alone', () => {
    const task = taken()
    task.when(beat())
    expect(task.latest).toEqual([{ type: 'attempt.beat', data: { attempt: 1 } }])
    expect(task.state).toMatchObject({ status: 'running', attempts: 1 })
    expect(task.refusal(beat('qa'))).toBe('not_assignee')
    expect(task.refusal(beat('dev', 2))).toBeDefined()
    expect(lives.todo().refusal(beat())).toBeDefined()
  })
})
