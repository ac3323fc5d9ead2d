import { expect, it } from 'vitest'
import { answer, lives, type Place, places } from '../../testing/task/lives.ts'
import { start } from '../../testing/task/steps.ts'
import { holdForDefect } from './defect.ts'
import { evolveAll } from './evolve/evolve.ts'

const holdable = ['todo', 'running', 'checking', 'in_review', 'restoring'] as const satisfies Place[]

it.each(holdable)('a defect met in %s holds the task for its owner', (place) => {
  const task = lives[place]()
  const held = holdForDefect(task.state, 'a defect')
  if (!held.ok) throw new Error(held.error.message)
  const from = place === 'restoring' ? 'in_review' : place === 'running' ? 'todo' : place
  expect(evolveAll(task.state, held.value)).toMatchObject({ status: 'held', hold: { reason: 'operator', from, detail: 'a defect' } })
  expect(held.value.at(-1)).toMatchObject({ type: 'operator.requested', data: { detail: 'a defect' } })
})

it.each(places.filter((place) => !(holdable as readonly string[]).includes(place)))('nothing is to be held in %s', (place) => {
  expect(holdForDefect(lives[place]().state, 'a defect')).toMatchObject({ ok: false, error: { code: 'wrong_status' } })
})

it('an attempt that was open is interrupted, charged, and tried again when the owner says so', () => {
  const task = lives.running()
  const held = holdForDefect(task.state, 'a defect')
  if (!held.ok) throw new Error(held.error.message)
  expect(held.value.map(({ type }) => type)).toEqual(['attempt.interrupted', 'task.held', 'operator.requested'])
  task.events.push(...held.value)
  task.maybe = evolveAll(task.state, held.value)
  answer(task, 'retry').when(start())
  expect(task.state).toMatchObject({ status: 'running', attempts: 2, charged: 2 })
})
