import { describe, expect, it } from 'vitest'
import { lives } from '../../testing/task/lives.ts'
import { created, start } from '../../testing/task/steps.ts'
import { rulesWith } from '../../testing/task/world.ts'

const gated = () => created(rulesWith(), { gates: ['review', 'legal'] })
const readied = () => gated().when({ type: 'ready_task', inputs: [], gates: ['review', 'legal'] })
const block = (gate = 'review') => ({ type: 'block_task', gate }) as const

describe('a task whose gate is shut again before it began', () => {
  it('waits for the gate, does not run, and may run once it is readied anew', () => {
    const task = readied()
    expect(task.state.status).toBe('todo')
    task.when(block('legal'))
    expect(task.latest).toEqual([{ type: 'task.blocked', data: { gate: 'legal' } }])
    expect(task.state).toMatchObject({ status: 'waiting', attempts: 0, charged: 0 })
    expect(task.refusal(start())).toBe('wrong_status')
    expect(task.when({ type: 'ready_task', inputs: [], gates: ['review', 'legal'] }).when(start()).state).toMatchObject({
      status: 'running',
      attempts: 1,
    })
  })

  it('is not held back by a gate that it does not wait for', () => {
    expect(readied().refusal(block('other'))).toBe('wrong_status')
    expect(lives.todo().refusal(block())).toBe('wrong_status')
  })

  it('waits already, or has begun: then nothing holds it back', () => {
    expect(gated().refusal(block())).toBe('wrong_status')
    const task = readied()
    expect(task.when(start()).refusal(block())).toBe('wrong_status')
  })
})
