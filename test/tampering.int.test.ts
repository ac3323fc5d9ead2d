import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { CheckReport } from '../src/contract/check.ts'
import type { StoredEvent } from '../src/contract/events/envelope.ts'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

const test = `import { add } from '../src/add.mjs'\nif (add(2, 2) !== 4) { console.error('2 + 2 is ' + add(2, 2)); process.exit(1) }\nconsole.log('all good')\n`
const manifest = `${JSON.stringify({ name: 'app', private: true, scripts: { test: 'node test/add.mjs' } })}\n`
const wrong = 'export const add = () => 5\n'
const right = 'export const add = (a, b) => a + b\n'

/** What the worker made of the folder, copied at the end of its turn: the folder itself is put back when the work is not accepted. */
const made = 'tmp/log'

/** A shared folder with a test that the work does not pass yet, and a worker that does this in it. */
function workOn(worker: string, check: Record<string, unknown> = {}): Project {
  const project = oneTask({
    worker: `${worker}\ncp -RP . '{{log}}'`,
    review: { maxAttempts: 1 },
    task: {
      workspace: { folder: 'app' },
      checks: [{ id: 'tests', kind: 'command', argv: ['node', 'test/add.mjs'], protect: ['test/**', 'package.json'], ...check }],
    },
  })
  project.write({ 'app/test/add.mjs': test, 'app/package.json': manifest, 'app/src/add.mjs': wrong })
  return project
}

const reportsIn = (events: readonly StoredEvent[]) =>
  events
    .filter(({ type }) => type === 'checks.passed' || type === 'checks.failed')
    .map(({ data }) => (data as { reports: CheckReport[] }).reports)

const attacks: [what: string, worker: string, finding: RegExp, left: (project: Project) => boolean][] = [
  ['deletes the test', 'rm test/add.mjs', /test\/add\.mjs is protected and was deleted/, (project) => !project.has(`${made}/test/add.mjs`)],
  [
    'makes the test say yes',
    `echo 'console.log("all good")' > test/add.mjs`,
    /test\/add\.mjs is protected and was edited/,
    (project) => !project.read(`${made}/test/add.mjs`).includes('2 + 2'),
  ],
  [
    'puts a folder in the place of the test',
    'rm test/add.mjs; mkdir -p test/add.mjs; echo x > test/add.mjs/x',
    /test\/add\.mjs.*protected/,
    (project) => project.has(`${made}/test/add.mjs/x`),
  ],
  [
    'puts a link in the place of the test',
    'rm test/add.mjs; ln -s /bin/true test/add.mjs; touch src/y',
    /test\/add\.mjs is protected/,
    (project) => project.has(`${made}/test/add.mjs`),
  ],
  [
    'plants a file beside the test',
    `echo 'process.exit(0)' > test/setup.mjs; touch src/y`,
    /test\/setup\.mjs was added where files are protected/,
    (project) => project.has(`${made}/test/setup.mjs`),
  ],
]

describe('a worker that tampers with its check', () => {
  it.each(attacks)('%s: the check runs as it was, and says so', { timeout }, async (_what, worker, finding, left) => {
    const project = workOn(worker)
    await project.run(['run', 'm.yaml'])
    expect(project.has(`${made}/src/add.mjs`) && left(project), 'the attack took place').toBe(true)
    expect(project.read('app/test/add.mjs'), 'nothing of it is left for the next task').toBe(test)
    expect(project.has('app/test/setup.mjs')).toBe(false)
    const [[report] = []] = reportsIn(await project.events())
    expect(report).toMatchObject({ id: 'tests', outcome: 'fail' })
    expect(report?.output).toContain('2 + 2 is 5')
    expect(report?.findings.join('\n')).toMatch(finding)
  })

  it('swaps the script that the check calls: the one of the base is called', { timeout }, async () => {
    const project = workOn(`echo '{"name":"app","scripts":{"test":"exit 0"}}' > package.json`, { argv: ['npm', 'test', '--silent'] })
    await project.run(['run', 'm.yaml'])
    expect(project.read(`${made}/package.json`)).toContain('exit 0')
    const [[report] = []] = reportsIn(await project.events())
    expect(report).toMatchObject({ outcome: 'fail', findings: ['package.json is protected and was edited'] })
  })

  it('but does the work all the same: it passes on the protected test, and judges hear of the edit', { timeout }, async () => {
    const project = workOn(`printf '${right.replace('\n', '\\n')}' > src/add.mjs; echo '// mine' >> test/add.mjs`)
    project.write({ 'judge.sh': `#!/bin/sh\ncat > '${project.log('prompt')}'\necho 'SCORE: 80'\n` })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    const [[report] = []] = reportsIn(await project.events())
    expect(report).toMatchObject({ outcome: 'pass', findings: ['test/add.mjs is protected and was edited'] })
    expect(project.logged('prompt').join('\n')).toContain('test/add.mjs is protected and was edited')
  })

  it.each(['test', 'test/', './test', '/test/**'])('cannot touch a folder that is protected as %s', { timeout }, async (glob) => {
    const project = workOn('rm test/add.mjs', { protect: [glob] })
    await project.run(['run', 'm.yaml'])
    const [[report] = []] = reportsIn(await project.events())
    expect(report).toMatchObject({ outcome: 'fail', findings: ['test/add.mjs is protected and was deleted'] })
  })

  it('is told apart from a glob that protects nothing: the report says so', { timeout }, async () => {
    const project = workOn(`printf '${right.replace('\n', '\\n')}' > src/add.mjs`, { protect: ['app/test/**', 'test/**'] })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    const [[report] = []] = reportsIn(await project.events())
    expect(report?.findings).toEqual(['protect "app/test/**" names no file that was there before the work; globs count from the workspace'])
  })

  it('adds files elsewhere: that is free', { timeout }, async () => {
    const project = workOn(`printf '${right.replace('\n', '\\n')}' > src/add.mjs; echo more > src/notes.txt`)
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(reportsIn(await project.events())[0]).toMatchObject([{ outcome: 'pass', findings: [] }])
  })
})

describe('work that breaks what another task was accepted for', () => {
  it('fails that task’s check and goes back', { timeout }, async () => {
    const project = oneTask({ worker: '', review: { maxAttempts: 2 } })
    const shared = { assignTo: 'dev', description: 'Do it.', workspace: { folder: 'site' } }
    project.write({
      'm.yaml': {
        name: 'M',
        tasks: [
          { ...shared, title: 'first', checks: [{ id: 'there', kind: 'file', path: 'a.txt', matches: 'alpha' }] },
          { ...shared, title: 'second', dependsOn: ['first'], checks: [{ kind: 'file', path: 'b.txt' }] },
        ],
      },
      'worker.sh': `#!/bin/sh
case "$ASSAY_TASK $ASSAY_ATTEMPT" in
  */first*) echo alpha > a.txt ;;
  */second\\ 1) echo beta > a.txt; echo beta > b.txt ;;
  *) cat > '${project.log('prompt')}'; echo alpha > a.txt ;;
esac
echo done
`,
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    const events = (await project.events()).filter(({ stream }) => stream === 'task/m-1/second')
    expect(reportsIn(events)).toMatchObject([
      [
        { id: 'file-1', outcome: 'pass' },
        { id: 'regression:m-1/first:there', outcome: 'fail' },
      ],
      [{ outcome: 'pass' }, { id: 'regression:m-1/first:there', outcome: 'pass' }],
    ])
    expect(project.logged('prompt').join('\n')).toContain('regression:m-1/first:there')
  })
})

describe('work that rewrites the check of an accepted task', () => {
  /** The first task makes a module with its test, which the second one breaks and makes to say yes. */
  const rewriting = (check: Record<string, unknown>, files: Record<string, string> = {}): Project => {
    const project = oneTask({ worker: '', review: { maxAttempts: 1 } })
    const shared = { assignTo: 'dev', description: 'Do it.', workspace: { folder: 'site' } }
    project.write({
      ...files,
      'm.yaml': {
        name: 'M',
        tasks: [
          { ...shared, title: 'first', checks: [{ id: 'works', kind: 'command', ...check }] },
          { ...shared, title: 'second', dependsOn: ['first'] },
        ],
      },
      'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in
  */first) echo 'export default 1' > one.mjs; echo "import one from './one.mjs'; if (one !== 1) process.exit(7)" > test.mjs; touch extra.mjs ;;
  *) echo 'export default 2' > one.mjs; echo 'process.exit(0)' > test.mjs ;;
esac
`,
    })
    return project
  }

  it('is checked by the one that was accepted, and told how it could be changed', { timeout }, async () => {
    const project = rewriting({ argv: ['node', 'test.mjs'] })
    await project.run(['run', 'm.yaml'])
    const second = (await project.events()).filter(({ stream }) => stream === 'task/m-1/second')
    const [[report] = []] = reportsIn(second)
    expect(report).toMatchObject({
      id: 'regression:m-1/first:works',
      outcome: 'fail',
      summary: expect.stringContaining('exit code 7'),
      findings: ['test.mjs is protected and was edited', expect.stringContaining('the owner’s word or a check of its own')],
    })
    expect(second.some(({ type }) => type === 'task.accepted')).toBe(false)
  })

  it('has changed it for those that come later where the owner takes it all the same', { timeout }, async () => {
    const project = rewriting({ argv: ['node', 'test.mjs'] })
    const third = { assignTo: 'dev', description: 'Do it.', workspace: { folder: 'site' }, title: 'third', dependsOn: ['second'] }
    const mission = parse(project.read('m.yaml')) as { tasks: object[] }
    project.write({
      'assay.yaml': project.read('assay.yaml').replace('maxAttempts: 1', 'maxAttempts: 1\n  onExhausted: escalate'),
      'm.yaml': { ...mission, tasks: [...mission.tasks, third] },
      'worker.sh': project.read('worker.sh').replace('  *)', '  */third) echo more > more.txt ;;\n  *)'),
    })
    await project.run(['run', 'm.yaml'])
    const [request] = (await project.json<{ request: string }>(['requests'])).lines
    const answered = await project.asOwner(['requests', 'answer', request?.request ?? 'none', 'accept', '--reason', 'one is two now'])
    expect(answered.code, answered.stderr).toBe(0)
    const resumed = await project.run(['resume'])
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0)
    const [[report] = []] = reportsIn((await project.events()).filter(({ stream }) => stream === 'task/m-1/third'))
    expect(report).toMatchObject({ id: 'regression:m-1/first:works', outcome: 'pass' })
  })

  it('is checked by what the base had where that was protected', { timeout }, async () => {
    const strict = "import one from './one.mjs'\nif (one !== 1) process.exit(9)\n"
    const project = rewriting({ argv: ['node', 'test.mjs'], protect: ['test.mjs'] }, { 'site/test.mjs': strict })
    await project.run(['run', 'm.yaml'])
    const [[report] = []] = reportsIn((await project.events()).filter(({ stream }) => stream === 'task/m-1/second'))
    expect(report).toMatchObject({ outcome: 'fail', summary: expect.stringContaining('exit code 9') })
  })
})

describe('a check of content that it has seen before', () => {
  it('is not run again, and says so', { timeout }, async () => {
    const project = oneTask({
      worker: 'echo same > work.txt',
      judge: "echo 'No.'; echo 'SCORE: 30'",
      task: { checks: [{ kind: 'command', argv: ['./count.sh'] }] },
    })
    project.write({ 'count.sh': `#!/bin/sh\necho x >> '${project.log('checks')}'\n` })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect(project.logged('turns')).toEqual(['1', '2'])
    expect(project.logged('checks')).toHaveLength(1)
    const reports = reportsIn(await project.events())
    expect(reports[0]?.[0]?.cached).toBeUndefined()
    expect(reports[1]?.[0]).toMatchObject({ outcome: 'pass', cached: true })
  })
})
