import { expect, it } from 'vitest'
import { mutationTable, partOf } from './mutation-table.ts'

const report = (...statuses: string[]) => ({ files: { 'a.ts': { mutants: statuses.map((status) => ({ status })) } } })

it('counts what every folder came to, and all together; what could not be loaded counts neither way', () => {
  const text = mutationTable(
    new Map([
      ['task', report('Killed', 'Killed', 'Timeout', 'Survived', 'RuntimeError', 'Ignored')],
      ['gate', report('Killed', 'NoCoverage', 'Killed')],
      ['empty', report('CompileError')],
    ]),
  )
  const lines = text.split('\n').slice(1)
  expect(lines.map((line) => line.trim().split(/ +/))).toEqual([
    ['empty', '1', '0', '0', '0', '0', '1', '-'],
    ['gate', '3', '2', '0', '0', '1', '0', '66.66'],
    ['task', '5', '2', '1', '1', '0', '1', '75.00'],
    ['total', '9', '4', '1', '1', '1', '2', '71.42'],
  ])
})

it.each(['policy', 'src/core/policy', './src/core/policy', 'src/core/policy/'])('takes %s for the folder of that name', (given) => {
  expect(partOf(given)).toBe('policy')
})
