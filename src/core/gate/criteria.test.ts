import { describe, expect, it } from 'vitest'
import { Config } from '../../contract/config/config.ts'
import { loadMission } from '../mission/load.ts'
import { missingOfGate, withGateCriteria } from './criteria.ts'

const own = [
  { id: 'AC1', text: 'it runs', hard: true },
  { id: 'AC4', text: 'it is short', hard: false },
]

describe('criteria of the gate', () => {
  it('come after those of the task, each once and with an id of its own', () => {
    expect(withGateCriteria(own, ['it runs', 'it is signed', 'it is dated', ' it is signed '])).toEqual([
      ...own,
      { id: 'AC3', text: 'it is signed', hard: true },
      { id: 'AC5', text: 'it is dated', hard: true },
    ])
    expect(withGateCriteria(own, [])).toEqual(own)
  })

  it('are hard, though the task has them as soft', () => {
    expect(missingOfGate({ criteria: own }, ['it runs', 'it is short', 'it is signed'])).toEqual(['it is short', 'it is signed'])
    const both = withGateCriteria(own, ['it is short'])
    expect(both).toEqual([own[0], { id: 'AC4', text: 'it is short', hard: true }])
    expect(missingOfGate({ criteria: both }, ['it is short'])).toEqual([])
  })

  it('are those of every task of a mission that has a deliverable, and of no other', () => {
    const config = Config.parse({
      agents: { dev: { role: 'engineer', brain: 'b' } },
      brains: { b: { kind: 'command', argv: ['x'] } },
      gate: { criteria: ['it is signed'] },
    })
    const tasks = [
      { title: 'a', assignTo: 'dev', acceptanceCriteria: ['it runs'], deliverable: 'out.md' },
      { title: 'b', assignTo: 'dev', acceptanceCriteria: ['it runs'] },
    ]
    const loaded = loadMission({ text: JSON.stringify({ name: 'm', tasks }), file: 'm.json', config })
    expect(loaded.ok && loaded.value.tasks.map(({ criteria }) => criteria.map(({ id, text }) => `${id} ${text}`))).toEqual([
      ['AC1 it runs', 'AC2 it is signed'],
      ['AC1 it runs'],
    ])
  })
})
