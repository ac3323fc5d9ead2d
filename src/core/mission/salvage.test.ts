import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../contract/config/read/parse.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import { loadMission, missionProblems } from './load.ts'

const parsed = parseConfig({
  text: 'brains: { s: { kind: scripted, file: b.yaml } }\nagents: { dev: { role: engineer, brain: s } }\n',
  file: 'assay.yaml',
})
if (!parsed.ok) throw new Error('the configuration of the test is wrong')
const { config } = parsed.value

const problems = (text: string, now?: number) => {
  const loaded = loadMission({ text, file: 'm.yaml', config, ...(now !== undefined && { now }) })
  return loaded.ok ? [] : loaded.error.map(formatProblem)
}

/** Wrong in every way at once: each line of it is told of. */
const wrong = `name: M
tasks:
  - { title: a, assignTo: dev, priority: 0, dependsOn: [b] }
  - { title: b, assignTo: nobody, threshold: 900, dependsOn: [a] }
  - { title: a, assignTo: dev, dependsOn: [zzz] }
  - { title: c, assignTo: dev, colour: red, deadline: 2001-01-01T00:00:00Z }
qualityGates:
  - { name: g, afterTasks: [a, missing], blocksTasks: [a], minScore: -1, notifyChannels: [pager] }
deadline: 2001-01-02T00:00:00Z
`

describe('a mission file that is wrong in several ways', () => {
  it('is told of all of them at once, in their order', () => {
    const found = problems(wrong, Date.parse('2026-01-01T00:00:00Z'))
    const expected = [
      /^m\.yaml:3:\d+: `tasks\[0\]\.priority`: .*got 0/,
      /^m\.yaml:4:\d+: the agent `nobody` is not declared/,
      /^m\.yaml:4:\d+: `tasks\[1\]\.threshold`/,
      /^m\.yaml:4:\d+: tasks wait for each other in a circle: a → b → a/,
      /^m\.yaml:5:\d+: the title `a` is that of tasks\[0\], too/,
      /^m\.yaml:5:\d+: no task is called `zzz`/,
      /^m\.yaml:6:\d+: unknown key `colour`/,
      /^m\.yaml:6:\d+: the deadline .*2001-01-01T00:00:00Z.* has passed/,
      /^m\.yaml:8:\d+: no task is called `missing`/,
      /^m\.yaml:8:\d+: the gate `g` blocks its own input `a`/,
      /^m\.yaml:8:\d+: `qualityGates\[0\]\.minScore`/,
      /^m\.yaml:8:\d+: the channel `pager` is not declared/,
      /^m\.yaml:9:\d+: the deadline .*2001-01-02T00:00:00Z.* has passed/,
    ]
    expect(found).toHaveLength(expected.length)
    for (const [index, line] of expected.entries()) expect(found[index]).toMatch(line)
  })

  it('is told what can be said without a configuration where none loaded', () => {
    const found = missionProblems({ text: wrong, file: 'm.yaml' }).map(formatProblem)
    expect(found.join('\n')).toMatch(/priority[\s\S]*circle[\s\S]*tasks\[0\], too[\s\S]*`zzz`[\s\S]*blocks its own input/)
    expect(found.join('\n')).not.toMatch(/nobody|pager/)
    const right = missionProblems({ text: 'name: M\ntasks: [{ title: a, assignTo: x, dependsOn: [a] }]\n', file: 'm.yaml' })
    expect(right.map(formatProblem)).toEqual([expect.stringMatching(/depends on itself/)])
  })

  it.each([
    ['a title that is a number', 'tasks: [{ title: 5, assignTo: dev }, { title: b, assignTo: dev, dependsOn: ["5"] }]', /title/],
    ['no title', 'tasks: [{ assignTo: dev }, { assignTo: dev }]', /title/],
    ['no agent', 'tasks: [{ title: a }]', /assignTo/],
    ['no task', 'tasks: []\nqualityGates: [{ name: g, afterTasks: [a] }]', /tasks/],
    ['a task that is none', 'tasks: [7]', /tasks\[0\]/],
    [
      'criteria that cannot be read',
      'tasks: [{ title: a, assignTo: dev, acceptanceCriteria: [{ id: X }], checks: [{ kind: file, path: x, proves: [X] }] }]',
      /text/,
    ],
    [
      'gates that are none',
      'tasks: [{ title: a, assignTo: dev }]\nqualityGates: [3, { name: g, afterTasks: 1, blocksTasks: [a] }]',
      /qualityGates/,
    ],
    ['dependencies that are no list', 'tasks: [{ title: a, assignTo: dev, dependsOn: b }]', /dependsOn/],
  ])('is told nothing that is wrong only because of another mistake: %s', (_what, text, about) => {
    const found = problems(`name: M\n${text}\n`)
    expect(found).not.toEqual([])
    for (const line of found) {
      expect(line).toMatch(about)
      expect(line).not.toMatch(/not declared|no task is called|too|there twice/)
    }
  })
})

describe('a deadline', () => {
  const at = (time: string, now: string) =>
    problems(`name: M\ntasks: [{ title: a, assignTo: dev, deadline: "${time}" }]\n`, Date.parse(now))

  it('that has passed is refused at its place; a later one and a duration are not', () => {
    expect(at('2026-05-01T12:00:00+02:00', '2026-05-01T10:00:00Z')).toEqual([
      expect.stringMatching(/^m\.yaml:2:\d+: the deadline .*2026-05-01T12:00:00\+02:00.* has passed: it is 2026-05-01T10:00:00\.000Z/),
    ])
    expect(at('2026-05-01T12:00:00+02:00', '2026-05-01T09:59:59Z')).toEqual([])
    expect(at('1ms', '2026-05-01T09:59:59Z')).toEqual([])
  })
})
