import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Config } from '../../contract/config/config.ts'
import { TaskSpec } from '../../contract/task.ts'
import { loadMission } from './load.ts'

const config = Config.parse({
  brains: { s: { kind: 'scripted', file: 'b.yaml' } },
  agents: { dev: { role: 'engineer', brain: 's' }, qa: { role: 'qa', brain: 's' } },
})

const mission = `name: Build feature X
tasks:
  - title: Implement core
    assignTo: dev
    description: Write core.txt
    acceptanceCriteria: [core.txt exists, { id: hello, text: it says hello, hard: false }]
    threshold: 85
    checks:
      - { kind: file, path: core.txt, proves: [AC1] }
  - title: Write tests
    assignTo: dev
    dependsOn: [Implement core]
    priority: 2.0
    deadline: 2h
  - title: Review docs
    assignTo: qa
    dependsOn: [Write tests, build-feature-x/implement-core]
    expectsDiff: false
qualityGates:
  - { name: code-review, afterTasks: [Implement core], blocksTasks: [Write tests], minScore: 4.0, requireAllPassed: true }
qualityThreshold: 3.5
`

describe('a mission file after any edit of its text', () => {
  it('loads as what the text then says, or is refused with places', () => {
    const edit = fc.oneof(
      fc.record({ kind: fc.constant('delete' as const), at: fc.noBias(fc.nat()), length: fc.integer({ min: 1, max: 25 }) }),
      fc.record({
        kind: fc.constant('insert' as const),
        at: fc.noBias(fc.nat()),
        text: fc.string({ unit: fc.constantFrom(...': -#[]{}&*!|>\'"%@`,\n\t0159abtrue~.'), minLength: 1, maxLength: 3 }),
      }),
      fc.record({
        kind: fc.constant('copy' as const),
        at: fc.noBias(fc.nat()),
        length: fc.integer({ min: 1, max: 120 }),
        to: fc.noBias(fc.nat()),
      }),
    )
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 2 }), (edits) => {
        const text = edits.reduce((current, change) => {
          const at = change.at % (current.length + 1)
          if (change.kind === 'delete') return current.slice(0, at) + current.slice(at + change.length)
          if (change.kind === 'insert') return current.slice(0, at) + change.text + current.slice(at)
          const to = change.to % (current.length + 1)
          return current.slice(0, to) + current.slice(at, at + change.length) + current.slice(to)
        }, mission)
        const result = loadMission({ text, file: 'm.yaml', config })
        if (!result.ok) {
          refused++
          expect(result.error.length).toBeGreaterThan(0)
          expect(result.error.every((problem) => (problem.line ?? 0) >= 1 && (problem.column ?? 0) >= 1)).toBe(true)
          return
        }
        accepted++
        const written = parse(text) as {
          tasks: { threshold?: number; dependsOn?: unknown[]; acceptanceCriteria?: unknown[]; checks?: unknown[] }[]
        }
        const { tasks } = result.value
        expect(tasks.map(({ bar }) => bar)).toEqual(written.tasks.map(({ threshold }) => threshold ?? 60))
        expect(tasks.map(({ dependsOn }) => dependsOn.length)).toEqual(written.tasks.map(({ dependsOn }) => dependsOn?.length ?? 0))
        expect(tasks.map(({ criteria }) => criteria.length)).toEqual(
          written.tasks.map(({ acceptanceCriteria }) => acceptanceCriteria?.length ?? 0),
        )
        expect(tasks.map(({ checks }) => checks)).toEqual(written.tasks.map(({ checks }) => checks ?? []))
        for (const task of tasks) TaskSpec.parse(task)
      }),
      { numRuns: 1000 },
    )
    expect(accepted).toBeGreaterThan(10)
    expect(refused).toBeGreaterThan(500)
  })
})
