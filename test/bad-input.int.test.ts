import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { makeProject, parseLines } from './front-door/project.ts'

const timeout = 120_000
useAssay()

const config = `brains: { canned: { kind: scripted, file: brain.yaml } }
agents:
  dev: { role: engineer, brain: canned }
  qa: { role: reviewer, brain: canned, instructions: Look twice. }
`
const brain = 'workers: { "*": [{ print: hello }] }\njudges: { "*": [{ accept: true, scores: 5 }] }\n'
const mission = 'name: M\ntasks:\n  - { title: a, assignTo: dev, description: d }\n'
const tasks = (...lines: string[]) => `name: M\ntasks:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`

interface Case {
  what: string
  files?: Record<string, string>
  args?: string[]
  env?: Record<string, string>
  /** What standard error says, in this order, each at the start of a line. */
  says: string[]
}

const cases: Case[] = [
  { what: 'a mission file that is missing', args: ['run', 'nope.yaml'], says: ['nope.yaml: there is no such file'] },
  { what: 'a folder instead of a mission file', args: ['run', '.'], says: ['.: this is a folder'] },
  { what: 'an empty mission file', files: { 'm.yaml': '' }, says: ['m.yaml:1:1: '] },
  { what: 'bytes that are no text', files: { 'm.yaml': '\u0000\u0001\ufffd{{{' }, says: ['m.yaml:1:'] },
  { what: 'YAML that does not parse', files: { 'm.yaml': 'name: M\ntasks: [\n' }, says: ['m.yaml:3:1: '] },
  {
    what: 'an unknown key',
    files: { 'm.yaml': tasks('title: a, assignTo: dev, descripton: d') },
    says: ['m.yaml:3:32: unknown key `descripton`; did you mean `description`?'],
  },
  { what: 'a key given twice', files: { 'm.yaml': `${mission}name: N\n` }, says: ['m.yaml:4:1: '] },
  {
    what: 'an agent that nobody knows',
    files: { 'm.yaml': tasks('title: a, assignTo: devv, description: d') },
    says: ['m.yaml:3:27: the agent `devv`'],
  },
  {
    what: 'a dependency that nobody knows',
    files: { 'm.yaml': tasks('title: a, assignTo: dev, description: d, dependsOn: [b]') },
    says: ['m.yaml:3:60: no task is called `b`'],
  },
  {
    what: 'tasks that wait for each other',
    files: {
      'm.yaml': tasks('title: a, assignTo: dev, description: d, dependsOn: [b]', 'title: b, assignTo: dev, description: d, dependsOn: [a]'),
    },
    says: ['m.yaml:4:60: tasks wait for each other in a circle: a → b → a'],
  },
  {
    what: 'two tasks of one name',
    files: { 'm.yaml': tasks('title: a, assignTo: dev, description: d', 'title: a, assignTo: dev, description: d') },
    says: ['m.yaml:4:'],
  },
  {
    what: 'two deliverables of one id, and an id that no command could name',
    files: {
      'm.yaml': tasks(
        'title: a, assignTo: dev, description: d, deliverable: { kind: text, id: report }',
        'title: b, assignTo: dev, description: d, deliverable: { kind: text, id: report }',
        'title: c, assignTo: dev, description: d, deliverable: { kind: text, id: "a b" }',
      ),
    },
    says: [
      'm.yaml:4:79: the deliverable `report` is that of tasks[0], too',
      'm.yaml:5:79: `a b`: an id has letters',
      'assay: 2 problems; nothing was started',
    ],
  },
  {
    what: 'everything at once: shape, names, order and time',
    files: {
      'm.yaml': `${tasks(
        'title: a, assignTo: devv, priority: 0, dependsOn: [b]',
        'title: b, assignTo: dev, dependsOn: [a, c], deadline: "2001-01-01T00:00:00Z"',
      )}qualityGates: [{ name: g, afterTasks: [a], blocksTasks: [a], minScore: bad, notifyChannels: [pager] }]\n`,
    },
    says: [
      'm.yaml:3:27: the agent `devv`',
      'm.yaml:3:43: `tasks[0].priority`',
      'm.yaml:4:44: tasks wait for each other in a circle: a → b → a',
      'm.yaml:4:47: no task is called `c`',
      'm.yaml:4:61: the deadline "2001-01-01T00:00:00Z" has passed',
      'm.yaml:5:58: the gate `g` blocks its own input `a`',
      'm.yaml:5:72: `qualityGates[0].minScore`',
      'm.yaml:5:94: the channel `pager` is not declared',
      'assay: 8 problems; nothing was started',
    ],
  },
  {
    what: 'a deadline that has passed',
    args: ['config', 'validate', 'm.yaml'],
    files: { 'm.yaml': `${mission}deadline: 2001-01-01T00:00:00+01:00\n` },
    says: ['m.yaml:4:11: the deadline "2001-01-01T00:00:00+01:00" has passed'],
  },
  { what: 'a configuration that is missing', args: ['run', 'm.yaml', '-c', 'nope.yaml'], says: ['nope.yaml: there is no such file'] },
  {
    what: 'a configuration with an unknown key',
    files: { 'assay.yaml': `${config}reviews: {}\n` },
    says: ['assay.yaml:5:1: unknown key `reviews`; did you mean `review`?'],
  },
  {
    what: 'a configuration with a bar on no scale',
    files: { 'assay.yaml': `${config}review: { threshold: 0.5 }\n` },
    says: ['assay.yaml:5:22: '],
  },
  {
    what: 'agents that manage each other',
    files: {
      'assay.yaml': config
        .replace('role: engineer,', 'role: engineer, reportsTo: qa,')
        .replace('role: reviewer,', 'role: reviewer, reportsTo: dev,'),
    },
    says: ['assay.yaml:'],
  },
  {
    what: 'a brain file that is missing',
    files: { 'assay.yaml': config.replace('brain.yaml', 'lost.yaml') },
    says: ['lost.yaml: the scripted brain cannot be read'],
  },
  { what: 'a brain file that is wrong', files: { 'brain.yaml': 'judges: { "*": [{ accpt: true }] }\n' }, says: ['brain.yaml:1:17: '] },
  {
    what: 'a threshold in the environment that fits no scale',
    env: { EVAL_THRESHOLD: '0.5' },
    says: ['environment variable EVAL_THRESHOLD: '],
  },
  { what: 'a switch in the environment that is neither on nor off', env: { EVAL: 'maybe' }, says: ['environment variable EVAL: '] },
  { what: '--max-attempts 0', args: ['run', 'm.yaml', '--max-attempts', '0'], says: ['--max-attempts: '] },
  { what: '--max-attempts many', args: ['run', 'm.yaml', '--max-attempts', 'many'], says: ['--max-attempts: '] },
  { what: '--eval-threshold 1000', args: ['run', 'm.yaml', '--eval-threshold', '1000'], says: ['--eval-threshold: '] },
]

const usage: { args: string[]; says: string }[] = [
  { args: ['run'], says: "missing required argument 'mission'" },
  { args: ['run', 'm.yaml', '--bogus'], says: "unknown option '--bogus'" },
  { args: ['frobnicate'], says: "unknown command 'frobnicate'" },
  { args: ['config', 'schema', 'poem'], says: 'there is no schema of poem' },
  { args: ['resume'], says: 'there is no .assay/' },
  { args: ['task', 'list'], says: 'there is no .assay/' },
  { args: ['task', 'show', 'a'], says: 'there is no .assay/' },
  { args: ['ledger', 'a'], says: 'there is no .assay/' },
  { args: ['audit'], says: 'there is no .assay/' },
  { args: ['audit', 'verify'], says: 'there is no .assay/' },
  { args: ['reset', 'a'], says: "needs the owner's authority" },
  { args: ['requests'], says: 'there is no .assay/' },
  { args: ['requests', 'answer', 'a#1', 'maybe'], says: 'maybe is no answer' },
  { args: ['overrule', 'a', 'maybe', '--reason', 'x'], says: 'neither pass nor fail' },
]

const projectWith = (files: Record<string, string> = {}) =>
  makeProject({ 'assay.yaml': config, 'brain.yaml': brain, 'm.yaml': mission, ...files })

describe('bad input is refused before anything starts', () => {
  it.each(cases)('$what', { timeout }, async ({ files, args = ['run', 'm.yaml'], env = {}, says }) => {
    const project = projectWith(files)
    const [plain, json] = await Promise.all([project.run(args, { env }), project.run([...args, '--json'], { env })])
    const { code, stdout, stderr } = plain
    expect(code, stderr).toBe(2)
    expect(stdout).toBe('')
    const lines = stderr.trimEnd().split('\n')
    let at = 0
    for (const start of says) {
      const found = lines.findIndex((line, index) => index >= at && line.startsWith(start))
      expect(found, `${JSON.stringify(start)} in\n${stderr}`).toBeGreaterThanOrEqual(at)
      at = found + 1
    }
    expect(lines.at(-1)).toMatch(/^assay: (a problem|\d+ problems); nothing was started$/)
    expect(stderr).not.toMatch(/\n\s+at /)

    expect(json.code).toBe(2)
    const [error, ...more] = parseLines<{ kind: string; problems: { file: string; message: string }[] }>(json.stdout)
    expect(more).toEqual([])
    expect(error?.kind).toBe('error')
    expect(error?.problems.length).toBeGreaterThan(0)
    for (const problem of error?.problems ?? []) expect(problem).toMatchObject({ file: expect.any(String), message: expect.any(String) })
    expect(project.has('.assay')).toBe(false)
  })

  it.each(usage)('assay $args', { timeout }, async ({ args, says }) => {
    const project = projectWith()
    const { code, stdout, stderr } = await project.run(args)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(says)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(project.has('.assay')).toBe(false)
  })

  it('and the same project runs once the mistake is mended', { timeout }, async () => {
    const project = projectWith({ 'm.yaml': tasks('title: a, assignTo: devv, description: d') })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(2)
    project.write({ 'm.yaml': mission })
    expect(await project.run(['run', 'm.yaml'])).toMatchObject({ code: 0, stdout: expect.stringContaining('RESULT: PASS') })
  })
})

describe('a mission that is under way', () => {
  const held = 'workers: { "*": [{ exit: 1 }] }\njudges: { "*": [{ accept: true }] }\n'

  it('is not gone on with under another policy, nor under another plan; what changed is said', { timeout }, async () => {
    const project = projectWith({ 'brain.yaml': held })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(3)
    const before = await project.events()
    const changed = await project.run(['resume'], { env: { EVAL_THRESHOLD: '80' } })
    expect(changed).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('threshold') })
    expect(await project.run(['run', 'm.yaml', '--max-attempts', '7'])).toMatchObject({ code: 2, stderr: expect.stringContaining('m-1') })
    project.write({ 'm.yaml': mission.replace('description: d', 'description: e') })
    expect(await project.run(['run', 'm.yaml'])).toMatchObject({ code: 2, stderr: expect.stringContaining('mission file has changed') })
    expect(await project.run(['resume', 'm-9'])).toMatchObject({ code: 2, stderr: expect.stringContaining('there are: m-1') })
    expect(await project.events()).toEqual(before)
  })

  it('and another run of it is started with --fresh only', { timeout }, async () => {
    const project = projectWith({ 'brain.yaml': held })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(3)
    project.write({ 'brain.yaml': brain })
    expect(await project.run(['run', 'm.yaml', '--fresh'])).toMatchObject({ code: 0 })
    const rows = (await project.json(['task', 'list'])).lines
    expect(rows).toMatchObject([
      { id: 'm-1/a', status: 'held' },
      { id: 'm-2/a', status: 'done', flag: 'clean' },
    ])
  })
})
