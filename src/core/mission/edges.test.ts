import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../contract/config/read/parse.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import { slugOf } from './ids.ts'
import { loadMission } from './load.ts'

const agents = 'brains: { s: { kind: scripted, file: b.yaml } }\nagents: { dev: { role: engineer, brain: s } }\n'

function load(text: string, more = '') {
  const parsed = parseConfig({ text: `${agents}${more}`, file: 'assay.yaml' })
  if (!parsed.ok) throw new Error(parsed.error.map(formatProblem).join('\n'))
  return loadMission({ text, file: 'm.yaml', config: parsed.value.config })
}
const tasks = (...entries: string[]) => `name: M\ntasks:\n${entries.map((entry) => `  - { assignTo: dev, ${entry} }`).join('\n')}\n`

function loaded(text: string, more = '') {
  const result = load(text, more)
  if (!result.ok) throw new Error(result.error.map(formatProblem).join('\n'))
  return result.value
}
function problems(text: string, more = ''): string[] {
  const result = load(text, more)
  return result.ok ? [] : result.error.map(formatProblem)
}

describe('a slug', () => {
  it('is as long as it may be, to the byte, and then ends in a hash', () => {
    expect(slugOf('a'.repeat(80))).toBe('a'.repeat(80))
    expect(slugOf('a'.repeat(81))).toMatch(/^a{71}-[0-9a-f]{8}$/)
    expect(slugOf('é'.repeat(40))).toBe('é'.repeat(40))
    expect(slugOf('é'.repeat(41))).toMatch(/^é{35}-[0-9a-f]{8}$/)
  })
})

describe('a mission', () => {
  it('has as many tasks as it may have, and not one more', () => {
    const two = tasks('title: a', 'title: b')
    expect(problems(two, 'limits: { missionTasks: 2 }\n')).toEqual([])
    const [found, ...others] = problems(two, 'limits: { missionTasks: 1 }\n')
    expect(found).toMatch(/2 tasks; at most 1/)
    expect(others).toEqual([])
  })

  it('has what was written, and nothing that was not', () => {
    const { mission, tasks: specs, notices } = loaded(tasks('title: a', 'title: b, dependsOn: [" a "]'))
    for (const key of ['qualityThreshold', 'deadline']) expect(mission).not.toHaveProperty(key)
    for (const key of ['deadline', 'gates']) expect(specs[0]).not.toHaveProperty(key)
    expect(specs[1]?.dependsOn).toEqual(['m/a'])
    expect(notices).toEqual([])
  })

  it.each([
    ['"folder:out"', { kind: 'folder', path: 'out' }],
    ['"folder:   out"', { kind: 'folder', path: 'out' }],
    ['{ folder: "my folder: x" }', { kind: 'folder', path: 'my folder: x' }],
    ['worktree', { kind: 'worktree' }],
  ])('works where it says: %s', (workspace, expected) => {
    expect(loaded(tasks(`title: a, workspace: ${workspace}`)).tasks[0]?.workspace).toEqual(expected)
  })
})

describe('a quality gate', () => {
  const gated = (...gates: string[]) =>
    `${tasks('title: a', 'title: b', 'title: c')}qualityGates:\n${gates.map((gate) => `  - { ${gate} }`).join('\n')}\n`
  const notices = (gate: string) => loaded(gated(`name: g, afterTasks: [a], ${gate}`)).notices.map(formatProblem)

  it('is told of where it asks for nothing, and only there', () => {
    expect(notices('blocksTasks: [b]')).toEqual([expect.stringMatching(/`g` asks for nothing.*`minScore`/)])
    expect(notices('minScore: 3')).toEqual([])
    expect(notices('requireAllPassed: true')).toEqual([])
    expect(notices('requireAllPassed: done')).toEqual([])
  })

  it('may not be part of a circle, whichever of several it is', () => {
    const first = 'name: g1, afterTasks: [a], blocksTasks: [b], minScore: 3'
    expect(problems(gated(first, 'name: g2, afterTasks: [b], blocksTasks: [c], minScore: 3'))).toEqual([])
    const [circle, ...others] = problems(gated(first, 'name: g2, afterTasks: [b], blocksTasks: [a], minScore: 3'))
    expect(circle).toMatch(/g1|g2/)
    expect(others).toEqual([])
    expect(problems(gated(first, 'name: g2, afterTasks: [c], blocksTasks: [c], minScore: 3'))).toHaveLength(1)
  })

  it('waits for each of its tasks once, by title or id', () => {
    const { mission, tasks: specs } = loaded(gated('name: g, afterTasks: [a, m/b], blocksTasks: [c], minScore: 3'))
    expect(mission.gates).toMatchObject([{ afterTasks: ['m/a', 'm/b'], blocksTasks: ['m/c'] }])
    expect(specs.map(({ gates }) => gates)).toEqual([undefined, undefined, ['g']])
    expect(problems(gated('name: g, afterTasks: [a, m/a], minScore: 3'))).toEqual([expect.stringContaining('listed twice')])
  })
})
