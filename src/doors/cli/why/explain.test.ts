import { describe, expect, it } from 'vitest'
import { HeldReason, TaskStatus } from '../../../contract/task.ts'
import type { TaskDetail } from '../../../engine/task/detail.ts'
import type { GateRow } from '../../../engine/views/gates.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import { blockersOf, explainTask, type TaskKnown } from './explain.ts'

const rowOf = (row: Partial<TaskRow>): TaskRow => ({
  id: 'm-1/a',
  mission: 'm-1',
  title: 'a',
  assignee: 'dev',
  status: 'todo',
  priority: 1,
  bar: 60,
  attempt: 0,
  dependsOn: [],
  updated: '2026-11-16T00:00:00Z',
  ...row,
})
const detailOf = (detail: Partial<TaskDetail>): TaskDetail => ({
  id: 'm-1/a',
  title: 'a',
  status: 'todo',
  bar: '3.0 (60/100)',
  decidedBar: '3.0 (60/100)',
  charged: 0,
  allowed: 2,
  criteria: [],
  ledger: [],
  checks: [],
  judges: [],
  vetoes: [],
  requests: [],
  ...detail,
})
const explain = (row: Partial<TaskRow>, detail: Partial<TaskDetail> = {}, more: Partial<TaskKnown> = {}) =>
  explainTask({ row: rowOf(row), detail: detailOf(detail), dependencies: [], blockers: [], gates: [], busy: false, ...more })

const score = { exact: '2/1', on5: 2, on100: 40 }
const request = { request: 'm-1/a#1', answers: ['retry' as const, 'accept' as const] }

describe('why a task is as it is', () => {
  it('has a reason and a next command in every state', () => {
    for (const status of TaskStatus.options) {
      const { because, next } = explain({ status })
      expect(because, status).not.toBe('')
      expect(next, status).toMatch(/^assay \w+/)
    }
  })

  it('names a panel that was smaller than it should be', () => {
    expect(explain({ status: 'done', flag: 'clean' }, { degraded: { quorum: 1 } }).chain[0]).toMatch(
      /^panel: quorum 1, degraded: fewer independent judges/,
    )
    expect(explain({ status: 'done', flag: 'clean' }).chain.join()).not.toContain('degraded')
  })

  it('says for every hold what would end it', () => {
    const said = HeldReason.options.map((held) => explain({ status: 'held', held }).because)
    expect(new Set(said).size).toBe(HeldReason.options.length)
    expect(explain({ status: 'held', held: 'operator', detail: 'look' }, { requests: [request] })).toMatchObject({
      because: 'it waits for you: look',
      next: 'assay requests answer m-1/a#1 <retry or accept> --reason <why>',
    })
    expect(explain({ status: 'held', held: 'judge_unavailable' }).next).toBe('assay doctor --ping')
  })

  it('never lets one way of being done pass for another', () => {
    const flags = ['clean', 'below-threshold', 'unreviewed', 'owner-accepted'] as const
    const said = flags.map((flag) => explain({ status: 'done', flag, score }).because)
    expect(new Set(said).size).toBe(flags.length)
    expect(said.filter((one) => one.includes('its review passed'))).toEqual([said[0]])
    expect(explain({ status: 'done', flag: 'below-threshold', score, concern: 'Thin.' })).toMatchObject({
      because: 'its attempts are used up, and it was accepted below the bar: 40/100 against a bar of 3.0 (60/100). Thin.',
      next: 'assay overrule m-1/a fail --reason <why>',
    })
  })

  it('follows what waits to where the trouble begins', () => {
    const root = rowOf({ id: 'm-1/c', title: 'c', status: 'held', held: 'budget', detail: 'no money' })
    const middle = rowOf({ id: 'm-1/b', title: 'b', status: 'waiting', dependsOn: ['m-1/d', 'm-1/c'] })
    const other = rowOf({ id: 'm-1/d', title: 'd', status: 'running' })
    const row = rowOf({ status: 'waiting', dependsOn: ['m-1/b'] })
    const blockers = blockersOf(row, new Map([root, middle, other].map((one) => [one.id, one])))
    expect(blockers).toEqual([middle, root])
    const { because, chain, next } = explain(row, {}, { dependencies: [middle], blockers })
    expect(because).toBe('it waits for b (waiting)')
    expect(chain[0]).toBe('which waits for c (held (budget): no money)')
    expect(next).toBe('assay why m-1/c')
  })

  it('ends although dependencies of a damaged journal go round in a circle', () => {
    const one = rowOf({ id: '1', dependsOn: ['2'] })
    const two = rowOf({ id: '2', dependsOn: ['1'] })
    expect(blockersOf(one, new Map([one, two].map((row) => [row.id, row]))).length).toBeLessThan(5)
  })

  it('names the gate that is shut, and how to open it', () => {
    const gate = {
      mission: 'm-1',
      name: 'g',
      status: 'failed',
      reason: 'too low',
      request: 'm-1/g#1',
      weak: [],
      state: {} as never,
    } satisfies GateRow
    expect(explain({ status: 'waiting' }, {}, { gates: [gate] })).toMatchObject({
      because: 'it waits for gate g (failed: too low)',
      next: 'assay requests answer m-1/g#1 <retry, waive or stop> --reason <why>',
    })
    expect(explain({ status: 'waiting' }, {}, { gates: [{ ...gate, status: 'passed' }] }).because).not.toContain('gate')
  })

  it('fits ten lines whatever there is to say', () => {
    const entry = { attempt: 1, source: 'panel', outcome: 'reject', category: null, concern: 'c', points: [], pointers: [] } as const
    const ledger = [1, 2, 3].map((number) => ({ ...entry, entry: number, points: [], pointers: [] }))
    const judges = Array.from({ length: 15 }, (_, seat) => ({ judge: `j${seat}`, said: 'no' }))
    const { chain } = explain({ status: 'held', held: 'unreadable' }, { ledger, judges, requests: [request] })
    expect(chain.length).toBeLessThanOrEqual(7)
    expect(chain[0]).toContain('asks you')
    expect(chain[1]).toContain('decision 3')
  })

  it('sends to the live audit where a process is at work, and to resume where none is', () => {
    expect(explain({ status: 'running' }, {}, { busy: true }).next).toBe('assay audit --follow --task m-1/a')
    expect(explain({ status: 'running' }).next).toBe('assay resume m-1')
  })
})
