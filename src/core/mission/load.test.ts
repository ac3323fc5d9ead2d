import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../contract/config/read/parse.ts'
import { formatProblem } from '../../contract/source/problem.ts'
import { TaskSpec } from '../../contract/task.ts'
import { loadMission } from './load.ts'

function configOf(text: string) {
  const result = parseConfig({ text, file: 'assay.yaml' })
  if (!result.ok) throw new Error(result.error.map(formatProblem).join('\n'))
  return result.value.config
}
const agents =
  'brains: { s: { kind: scripted, file: b.yaml } }\nagents: { dev: { role: engineer, brain: s }, qa: { role: qa, brain: s } }\n'
const config = configOf(agents)

function load(text: string, given = config, file = 'm.yaml') {
  const result = loadMission({ text, file, config: given })
  if (!result.ok) throw new Error(result.error.map(formatProblem).join('\n'))
  return result.value
}

function problems(text: string, given = config): string[] {
  const result = loadMission({ text, file: 'm.yaml', config: given })
  return result.ok ? [] : result.error.map(formatProblem)
}

const neitherScale = 'a bar between 0 and 1 fits neither scale: write it on 1–5 (3.0) or on 0–100 (60)'

/** A mission of the given flow-style tasks, one a line from line 3 on. */
function tasks(...entries: string[]): string {
  return `name: M\ntasks:\n${entries.map((entry) => `  - { assignTo: dev, ${entry} }`).join('\n')}\n`
}

describe('loadMission', () => {
  it('resolves every field of a task', () => {
    const text = `
name: Ship it
deadline: 2027-03-01T12:00:00Z
tasks:
  - title: Größe ändern!
    assignTo: dev
    description: Do it.
    acceptanceCriteria:
      - plain
      - { text: soft one, hard: false }
      - { id: perf, text: fast }
    priority: 0.5
    dimensions: [{ name: tone, weight: 1, description: Tone. }]
    threshold: 4.5
    checks:
      - { kind: text, contains: [hello], proves: [perf, AC1] }
    workspace: { folder: ../shared }
    expectsDiff: false
    deliverable: dist/
  - { title: Second, assignTo: qa, workspace: worktree, deliverable: { kind: diff, id: patch }, deadline: 90m, dependsOn: [größe-ändern] }
  - { title: Third, assignTo: qa, workspace: "folder: out", deliverable: https://example.com/x, dependsOn: [ship-it/second, Größe ändern!] }
  - { title: Fourth, assignTo: qa, workspace: scratch, deliverable: report.md }
`
    const { mission, tasks: specs } = load(text)
    expect(specs[0]).toEqual({
      id: 'ship-it/größe-ändern',
      mission: 'ship-it',
      title: 'Größe ändern!',
      description: 'Do it.',
      assignee: 'dev',
      criteria: [
        { id: 'AC1', text: 'plain', hard: true },
        { id: 'AC2', text: 'soft one', hard: false },
        { id: 'perf', text: 'fast', hard: true },
      ],
      checks: [{ kind: 'text', contains: ['hello'], proves: ['perf', 'AC1'] }],
      dimensions: [{ name: 'tone', weight: 1, description: 'Tone.' }],
      bar: 4.5,
      dependsOn: [],
      priority: 0.5,
      workspace: { kind: 'folder', path: '../shared' },
      expectsDiff: false,
      depth: 0,
      own: ['bar', 'dimensions'],
      deliverable: { kind: 'folder', path: 'dist/' },
    })
    expect(specs[1]).toMatchObject({ workspace: { kind: 'worktree' }, dependsOn: ['ship-it/größe-ändern'] })
    expect(specs[2]).toMatchObject({ workspace: { kind: 'folder', path: 'out' }, dependsOn: ['ship-it/second', 'ship-it/größe-ändern'] })
    expect(mission).toMatchObject({ deadline: '2027-03-01T12:00:00Z', deadlines: { 'ship-it/second': '90m' } })
    expect(mission.deliverables).toEqual({
      'ship-it/größe-ändern': { kind: 'folder', path: 'dist/' },
      'ship-it/second': { kind: 'diff', id: 'patch' },
      'ship-it/third': { kind: 'url', url: 'https://example.com/x' },
      'ship-it/fourth': { kind: 'file', path: 'report.md' },
    })
    expect(Object.fromEntries(specs.map(({ id, deliverable }) => [id, deliverable]))).toEqual(mission.deliverables)
    for (const spec of specs) expect(TaskSpec.parse(spec)).toEqual(spec)
  })

  it('reads JSON', () => {
    const text = JSON.stringify({ $schema: 'x', name: 'J', tasks: [{ title: 'a', assignTo: 'dev' }] }, null, '\t')
    expect(load(text, config, 'm.json').tasks.map(({ id }) => id)).toEqual(['j/a'])
  })

  it("puts the policy's checks before the task's, and the policy's bar and dimensions where the task has none", () => {
    const given = configOf(`${agents}checks: [{ kind: file, path: README.md }]\nreview: { threshold: 80 }\n`)
    const [spec] = load(tasks('title: a, checks: [{ kind: file, path: a.txt }]'), given).tasks
    expect(spec?.checks.map((check) => 'path' in check && check.path)).toEqual(['README.md', 'a.txt'])
    expect(spec).toMatchObject({ bar: 80, dimensions: given.review.dimensions })
  })

  it('notices gates that ask for nothing and weights that it normalises', () => {
    const text = `${tasks('title: a, dimensions: [{ name: x, weight: 3, description: d }]')}qualityGates: [{ name: g, afterTasks: [a] }]\n`
    expect(load(text).notices.map(formatProblem)).toEqual([
      'm.yaml:3:44: the weights of the dimensions sum to 3, not 1: each counts by its share of the sum',
      'm.yaml:4:16: the gate `g` asks for nothing: it passes whatever its tasks come to (give it `minScore` or `requireAllPassed`)',
    ])
  })
})

describe('loadMission refuses', () => {
  it.each<[string, ...string[]]>([
    ['‸tasks: ‸[]\n', '`name` is missing: expected text', '`tasks`: expected a list of at least 1; got an empty list'],
    ['‸name: M\n', '`tasks` is missing: expected a list'],
    [tasks('title: a, ‸asignTo: x'), 'unknown key `asignTo`; did you mean `assignTo`?'],
    [tasks('title: a', 'title: b, dependsOn: [‸c]'), 'no task is called `c`'],
    [tasks('title: Write core', 'title: b, dependsOn: [‸Write cor]'), 'no task is called `Write cor` (did you mean `Write core`?)'],
    [tasks('title: a', 'title: ‸a'), 'the title `a` is that of tasks[0], too (give each task a title of its own)'],
    [tasks('title: a, dependsOn: [‸a]'), 'the task `a` depends on itself'],
    [tasks('title: a', 'title: b, dependsOn: [a, ‸m/a]'), 'the task `m/a` is listed twice'],
    [
      tasks('title: a, dependsOn: [b]', 'title: b, dependsOn: [‸a]'),
      'tasks wait for each other in a circle: a → b → a (remove one of these steps)',
    ],
    [
      'name: M\ntasks:\n  - { title: a, assignTo: ‸dve }\n',
      'the agent `dve` is not declared under agents in the configuration (did you mean `dev`?)',
    ],
    [
      'name: M\ntasks:\n  - { title: a, assignTo: ‸constructor }\n',
      'the agent `constructor` is not declared under agents in the configuration',
    ],
    [tasks('title: a, priority: ‸0'), '`tasks[0].priority`: expected a number of more than 0; got 0'],
    [tasks('title: a, priority: ‸-.inf'), '`tasks[0].priority`: expected a number; got -Infinity'],
    [tasks('title: a, threshold: ‸0.7'), `\`tasks[0].threshold\`: ${neitherScale}; got 0.7`],
    [
      tasks('title: a, deadline: ‸2027-02-30T00:00:00Z'),
      '`tasks[0].deadline`: a deadline is a duration (2h) or a point in time with its zone (2027-03-01T12:00:00Z); got "2027-02-30T00:00:00Z"',
    ],
    [
      tasks('title: a, workspace: ‸sratch'),
      '`tasks[0].workspace`: a workspace is `scratch`, `worktree` or `{ folder: path }`; got "sratch"',
    ],
    [
      tasks('title: a, workspace: ‸{ ‸foldr: x }'),
      '`tasks[0].workspace.folder` is missing: expected text',
      'unknown key `foldr`; did you mean `folder`?',
    ],
    [
      tasks('title: a, acceptanceCriteria: [x, ‸{ id: AC1, text: y }]'),
      'the criterion id `AC1` is that of criterion 1, too (give one of them another `id`)',
    ],
    [tasks('title: a, acceptanceCriteria: [x, ‸x]'), 'the criterion `x` is there twice'],
    [tasks('title: a, acceptanceCriteria: [‸AC2, y]'), 'the criterion reads like the id of criterion 2: `AC2`'],
    [
      tasks('title: a, acceptanceCriteria: [{ text: x, hard: ‸yes }]'),
      '`tasks[0].acceptanceCriteria[0].hard`: expected true or false; got "yes" (write true)',
    ],
    [
      tasks('title: a, acceptanceCriteria: [{ id: ‸"a b", text: x }]'),
      '`tasks[0].acceptanceCriteria[0].id`: an id has letters, digits, `.`, `_`, `-`; at most 64; got "a b"',
    ],
    [tasks('title: a, acceptanceCriteria: [‸5]'), '`tasks[0].acceptanceCriteria[0]`: expected text or a mapping; got 5'],
    [
      tasks('title: a, acceptanceCriteria: [x], checks: [{ kind: file, path: y, proves: [‸AC2] }]'),
      'the criterion `AC2` is not declared by the task (did you mean `AC1`?)',
    ],
    [
      tasks('title: a, checks: [{ kind: file, path: x, id: k }, { kind: file, path: y, id: ‸k }]'),
      'the check `k` has the name of another check before it (give it an `id` of its own)',
    ],
    [
      tasks('title: a, checks: [{ kind: file, path: ‸/x }]'),
      'the check looks at "/x", which is not inside the workspace (write a relative path without `..`)',
    ],
    [tasks('title: a, deliverable: ‸{ kind: file }'), '`tasks[0].deliverable.path` is missing: expected text'],
    [
      `${tasks('title: a', 'title: b')}qualityGates: [{ name: g, afterTasks: [a], blocksTasks: [‸a, b], minScore: 3 }]\n`,
      'the gate `g` blocks its own input `a`',
    ],
    [
      `${tasks('title: a, dependsOn: [b]', 'title: b')}qualityGates: [{ name: g, afterTasks: [‸a], blocksTasks: [b], minScore: 3 }]\n`,
      'the gate `g` blocks its own inputs: a → b → gate g → a (remove one of these steps)',
    ],
    [
      `${tasks('title: a')}qualityGates: [{ name: g, afterTasks: [a], minScore: ‸0.5 }]\n`,
      `\`qualityGates[0].minScore\`: ${neitherScale}; got 0.5`,
    ],
    [
      `${tasks('title: a')}qualityGates: [{ name: g, afterTasks: [a], minScore: 3 }, { name: ‸g, afterTasks: [‸x], minScore: 3 }]\n`,
      'the gate `g` is there twice',
      'no task is called `x`',
    ],
    [
      `${tasks('title: a')}qualityGates: [{ name: g, afterTasks: [a], requireAllPassed: ‸always }]\n`,
      '`qualityGates[0].requireAllPassed`: expected true or false or `done`; got "always"',
    ],
    [
      `${tasks('title: a')}qualityGates: [{ name: g, afterTasks: ‸[], minScore: 3 }]\n`,
      '`qualityGates[0].afterTasks`: expected a list of at least 1; got an empty list',
    ],
    [
      `${tasks('title: a')}qualityGates: [{ name: g, afterTasks: [a], minScore: 3, notifyChannels: [‸ops] }]\n`,
      'the channel `ops` is not declared under notify.channels (none is declared under notify.channels)',
    ],
    [`${tasks('title: a')}qualityThreshold: ‸200\n`, '`qualityThreshold`: a bar is at most 5 (scale 1–5) or 100 (scale 0–100); got 200'],
  ])('%j', (marked, ...messages) => {
    const places = [...marked.matchAll(/‸/g)].map(({ index }) => marked.slice(0, index).replaceAll('‸', ''))
    const expected = places.map((before, index) => {
      const lines = before.split('\n')
      return `m.yaml:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}: ${messages[index]}`
    })
    expect(messages).toHaveLength(places.length)
    expect(problems(marked.replaceAll('‸', ''))).toEqual(expected)
  })

  it('everything at once, in the order of the file', () => {
    const text = tasks(
      'title: a, dependsOn: [x]',
      'title: a',
      'title: c, dependsOn: [d]',
      'title: d, dependsOn: [c]',
      'title: e, dependsOn: [e]',
    )
    expect(problems(text).map((line) => line.replace(/^m\.yaml:(\d+):.*$/, '$1'))).toEqual(['3', '4', '6', '7'])
  })

  it('weights that do not sum to 1 where the policy is strict', () => {
    const given = configOf(`${agents}review: { weightSum: strict }\n`)
    expect(problems(tasks('title: a, dimensions: [{ name: x, weight: 0.5, description: d }]'), given)[0]).toContain(
      'm.yaml:3:44: the weights of the dimensions sum to 0.5, not 1',
    )
  })

  it('a check with the name of one of the policy', () => {
    const given = configOf(`${agents}checks: [{ kind: file, id: readme, path: README.md }]\n`)
    expect(problems(tasks('title: a, checks: [{ kind: file, id: readme, path: x }]'), given)).toHaveLength(1)
  })

  it('more tasks or bytes than the limits', () => {
    expect(problems(tasks('title: a', 'title: b'), { ...config, limits: { ...config.limits, missionTasks: 1 } })).toEqual([
      'm.yaml:2:1: the mission has 2 tasks; at most 1 are taken (`limits.missionTasks`)',
    ])
    expect(problems(tasks('title: a'), { ...config, limits: { ...config.limits, missionBytes: 20 } })[0]).toContain(
      'm.yaml:1:1: the file has 47 bytes; at most 20 are read',
    )
  })
})

describe('large missions', () => {
  const chain = (count: number, first = '') =>
    tasks(...Array.from({ length: count }, (_, index) => `title: Task ${index}, dependsOn: [${index === 0 ? first : `Task ${index - 1}`}]`))

  it('load: a chain of 10,000 tasks', () => {
    const specs = load(chain(10_000)).tasks
    expect(specs).toHaveLength(10_000)
    expect(specs[9_999]?.dependsOn).toEqual(['m/task-9998'])
  })

  it('are refused with the path where 1,000 tasks wait for each other', () => {
    const found = problems(chain(1_000, 'Task 999'))
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(
      /^m\.yaml:4:\d+: tasks wait for each other in a circle: Task 0 → Task 999 → Task 998 → .* → … 988 more … → Task 0 \(/,
    )
  })

  it('are refused in bounded words where everything is wrong', () => {
    const text = tasks(...Array.from({ length: 10_000 }, (_, index) => `title: Task ${index}, dependsOn: [Tsk ${index}, Task ${index}]`))
    const found = problems(text)
    expect(found).toHaveLength(101)
    expect(found[0]).toContain('did you mean `Task 0`?')
    expect(found.at(-1)).toContain('and 19900 more problems from here on')
  })
})
