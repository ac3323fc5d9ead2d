import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../contract/config/read/parse.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import { loadAddition } from './addition.ts'
import { loadMission } from './load.ts'

const parsed = parseConfig({
  text: 'brains: { s: { kind: scripted, file: b.yaml } }\nagents: { dev: { role: engineer, brain: s } }\nlimits: { missionBytes: 2000 }\n',
  file: 'assay.yaml',
})
if (!parsed.ok) throw new Error('the configuration of the test is wrong')
const { config } = parsed.value
const written = (...entries: string[]) => `name: M\ntasks:\n${entries.map((entry) => `  - { assignTo: dev, ${entry} }`).join('\n')}\n`
const known = [
  { id: 'm-3/one', title: 'One', assignee: 'dev' },
  { id: 'm-3/cafe-1', title: 'Caf\u00e9', assignee: 'dev' },
]

function added(text: string) {
  const result = loadAddition({ text, file: 'm.yaml', config }, { mission: 'm-3', known, gates: ['kept'] })
  return result.ok ? result.value : result.error.map(formatProblem)
}

describe('tasks that are added to a run', () => {
  it('are those that it does not have, as tasks of that run', () => {
    const text = written(
      'title: One',
      'title: "Cafe\u0301"',
      'title: Two, priority: 2, dependsOn: [One, "Caf\u00e9"]',
      'title: Three, dependsOn: [Two]',
    )
    expect(added(text)).toMatchObject([
      { id: 'm-3/two', mission: 'm-3', title: 'Two', assignee: 'dev', priority: 2, dependsOn: ['m-3/one', 'm-3/cafe-1'] },
      { id: 'm-3/three', dependsOn: ['m-3/two'] },
    ])
  })

  it('may stand alone in their file, and depend on what the run has', () => {
    expect(added(written('title: Two, dependsOn: [One]'))).toMatchObject([{ id: 'm-3/two', dependsOn: ['m-3/one'] }])
    expect(added(written('title: One'))).toEqual([])
    expect(added(written('title: Two, dependsOn: [One]').replace('name: M\n', ''))).toMatchObject([
      { id: 'm-3/two', mission: 'm-3', dependsOn: ['m-3/one'] },
    ])
  })

  it('have no deadline that has passed; what the run has may', () => {
    const past = 'deadline: "2020-01-01T00:00:00Z"'
    const at = (text: string) => {
      const now = Date.parse('2026-01-01T00:00:00Z')
      const result = loadAddition({ text, file: 'm.yaml', config, now }, { mission: 'm-3', known, gates: [] })
      return result.ok ? result.value.map(({ id }) => id) : result.error.map(formatProblem)
    }
    expect(at(written(`title: Two, ${past}`))).toEqual([expect.stringMatching(/^m\.yaml:3:\d+: .*has passed/)])
    expect(at(`${past}\n${written(`title: One, ${past}`, 'title: Two, deadline: 2h')}`)).toEqual(['m-3/two'])
  })

  it('leave the gates of the run as they are, and bring none of their own in silence', () => {
    const gate = (name: string, blocks: string) =>
      `qualityGates: [{ name: ${name}, afterTasks: [One], blocksTasks: [${blocks}], minScore: 3 }]\n`
    expect(added(`${written('title: Two')}${gate('kept', '')}`)).toMatchObject([{ id: 'm-3/two' }])
    expect(added(`${written('title: Two')}${gate('g', 'Two')}`)).toEqual([expect.stringContaining('the gate `g` cannot be added to a run')])
    expect(added(`${written('title: Two')}${gate('kept', 'Two')}`)).toEqual([expect.stringContaining('cannot take in the new task `Two`')])
  })

  it.each([
    ['a name that nobody has', written('title: Two, dependsOn: [Nobody]'), /^m\.yaml:3:.*no task is called `Nobody`/],
    ['a circle', written('title: Two, dependsOn: [Three]', 'title: Three, dependsOn: [Two]'), /^m\.yaml:/],
    ['an unknown key', written('title: Two, colour: red'), /colour/],
    ['no tasks', 'name: M\n', /tasks/],
    ['what is no YAML', 'name: [\n', /^m\.yaml:/],
    ['too much', `${written('title: Two')}# ${'x'.repeat(2000)}\n`, /m\.yaml/],
  ])('are refused whole with %s, at its place', (_what, text, expected) => {
    const result = loadAddition({ text, file: 'm.yaml', config }, { mission: 'm-3', known, gates: ['kept'] })
    expect(result.ok).toBe(false)
    expect(added(text)[0]).toMatch(expected)
  })
})

describe('deliverables of a mission', () => {
  const problems = (...entries: string[]) => {
    const result = loadMission({ text: written(...entries), file: 'm.yaml', config })
    return result.ok ? [] : result.error.map(formatProblem)
  }

  it('have an id of their own each', () => {
    const same = 'deliverable: { kind: file, path: a, id: report }'
    expect(problems(`title: a, ${same}`, 'title: b, deliverable: { kind: file, path: a, id: other }')).toEqual([])
    const [found, ...others] = problems(`title: a, ${same}`, 'title: c', `title: b, ${same}`)
    expect(found).toMatch(/^m\.yaml:5:72: .*`report` is that of tasks\[0\], too.*id of its own/)
    expect(others).toEqual([])
  })

  it('have an id that can be used', () => {
    const [found, ...others] = problems('title: a, deliverable: { kind: text, id: "-x" }')
    expect(found).toMatch(/^m\.yaml:3:\d+: `-x`: an id has letters/)
    expect(others).toEqual([])
  })

  it.each(['http://x.example/', 'https://x.example/', '{ kind: url, url: "https://x.example/" }'])(
    'are no part of a repository where they are a page: %s',
    (page) => {
      const [found, ...others] = problems(`title: a, workspace: worktree, deliverable: ${page}`)
      expect(found).toMatch(/^m\.yaml:3:\d+: .*page.*worktree.*scratch/)
      expect(others).toEqual([])
      expect(problems(`title: a, deliverable: ${page}`)).toEqual([])
    },
  )

  it.each(['docs/http://x', 'report.md', '{ kind: diff }', 'site/'])('may be files of a repository: %s', (files) => {
    expect(problems(`title: a, workspace: worktree, deliverable: ${files}`)).toEqual([])
  })

  it.each([
    ['http://x.example/', { kind: 'url', url: 'http://x.example/' }],
    ['docs/http://x', { kind: 'file', path: 'docs/http://x' }],
    ['site/', { kind: 'folder', path: 'site/' }],
  ])('are what they read like: %s', (text, expected) => {
    const result = loadMission({ text: written(`title: a, deliverable: "${text}"`), file: 'm.yaml', config })
    expect(result.ok && result.value.mission.deliverables).toEqual({ 'm/a': expected })
  })
})
