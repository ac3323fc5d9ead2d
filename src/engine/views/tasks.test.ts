import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import { type TaskRow, tasksView } from './tasks.ts'

function rowAfter(before: { gates?: string[]; dependsOn?: string[] }, ...types: string[]): TaskRow | undefined {
  const spec = { id: 'm-1/a', mission: 'm-1', title: 'A', assignee: 'dev', priority: 1, bar: 60, dependsOn: [], ...before }
  const events = [{ type: 'task.created', data: { spec } }, ...types.map((type) => ({ type, data: { attempt: 1, reason: 'x' } }))]
  return events.reduce<TaskRow | undefined>(
    (row, event) => tasksView.fold(row, { ...event, meta: { at: '2026-01-01T00:00:00Z', actor: 'x' } } as unknown as StoredEvent, 'm-1/a'),
    undefined,
  )
}

describe('the row of a task that is opened again', () => {
  it('waits where a gate stands before it and it never began', () => {
    expect(rowAfter({ gates: ['g'] }, 'task.failed', 'task.reopened')?.status).toBe('waiting')
  })

  it('waits where it was never given what it depends on', () => {
    const dependsOn = ['m-1/b']
    expect(rowAfter({ dependsOn }, 'task.skipped', 'task.reopened')?.status).toBe('waiting')
    expect(rowAfter({ dependsOn }, 'task.readied', 'task.failed', 'task.reopened')?.status).toBe('todo')
  })

  it('is to be done otherwise', () => {
    expect(rowAfter({ gates: ['g'] }, 'task.readied', 'attempt.started', 'task.failed', 'task.reopened')?.status).toBe('todo')
    expect(rowAfter({}, 'task.failed', 'task.reopened')?.status).toBe('todo')
  })
})

describe('the bar of a row', () => {
  const events = (list: { type: string; data: object }[]) =>
    list.reduce<TaskRow | undefined>(
      (row, event) =>
        tasksView.fold(row, { ...event, meta: { at: '2026-01-01T00:00:00Z', actor: 'x' } } as unknown as StoredEvent, 'm-1/a'),
      undefined,
    )
  const created = {
    type: 'task.created',
    data: { spec: { id: 'm-1/a', title: 'A', assignee: 'dev', priority: 1, bar: 60, dependsOn: [] } },
  }
  const decided = (bar: number) => ({ type: 'review.decided', data: { decision: { bar, concern: '', score: { on100: 80 } } } })
  const adopted = (bar: number) => ({ type: 'policy.adopted', data: { bar } })

  it('is the one that its score was decided against, whatever took over since', () => {
    expect(events([created, adopted(90)])?.bar).toBe(90)
    expect(events([created, decided(60), adopted(90)])).toMatchObject({ bar: 60, nextBar: 90 })
    expect(events([created, decided(60), adopted(90), adopted(60)])).not.toHaveProperty('nextBar')
    for (const then of [decided(90), { type: 'decision.reused', data: {} }]) {
      const row = events([created, decided(60), adopted(90), then])
      expect([row?.bar, row?.nextBar]).toEqual([90, undefined])
    }
  })
})
