import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import type { CheckReport } from '../src/contract/check.ts'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

interface Worker {
  first: string
  second: string
  review?: Record<string, unknown>
}

/** Two tasks that share a folder, the first of higher priority; what each does there is shell text. */
function twoTasks({ first, second, review = {} }: Worker): Project {
  const project = oneTask({ worker: '', review: { maxAttempts: 1, ...review } })
  const task = { assignTo: 'dev', description: 'Do it.', workspace: { folder: 'app' } }
  project.write({
    'm.yaml': {
      name: 'M',
      tasks: [
        { ...task, title: 'first', priority: 5 },
        { ...task, title: 'second' },
      ],
    },
    'worker.sh': `#!/bin/sh\ncase "$ASSAY_TASK" in\n*/first)\n${first}\n;;\n*)\n${second}\n;;\nesac\n`,
    'app/test.txt': 'strict\n',
    'app/lib.txt': 'library\n',
  })
  return project
}

const spoil = `echo lax > test.txt; rm lib.txt; mkdir -p extra; echo more > extra/file.txt`
const seen = (project: Project) => `cat test.txt lib.txt > '${project.log('seen')}'; ls >> '${project.log('seen')}'; echo done > second.txt`

async function request(project: Project): Promise<string> {
  const [found] = (await project.json<{ request: string }>(['requests'])).lines
  return found?.request ?? 'none'
}

describe('a task in a shared folder', () => {
  it.each([
    ['held because its worker failed', 'exit 7', {}, 'task.held'],
    ['failed at the end of its attempts', 'echo said', { onExhausted: 'fail' }, 'task.failed'],
  ])('that is %s leaves nothing there for the next one', { timeout }, async (_how, ending, review, event) => {
    const project = twoTasks({ first: '', second: '', review })
    project.write({
      'worker.sh': `#!/bin/sh\ncase "$ASSAY_TASK" in\n*/first)\n${spoil}; ls > '${project.log('made')}'; ${ending}\n;;\n*)\n${seen(project)}\n;;\nesac\n`,
      'judge.sh': `#!/bin/sh\ncase "$ASSAY_TASK" in */first) echo 'SCORE: 10' ;; *) echo 'SCORE: 90' ;; esac\n`,
    })
    await project.run(['run', 'm.yaml'])
    const events = await project.events()
    expect(project.logged('made'), 'the first did its harm').toEqual(['extra', 'test.txt'])
    expect(events.some(({ type, stream }) => type === event && stream.endsWith('/first'))).toBe(true)
    expect(project.logged('seen')).toEqual(['strict', 'library', 'lib.txt', 'test.txt'])
    expect(project.has('app/second.txt')).toBe(true)
    expect(project.has('app/extra')).toBe(false)
  })

  it('that goes on after it was held finds its own work again, on top of the other’s', { timeout }, async () => {
    const project = twoTasks({ first: '', second: '' })
    project.write({
      'worker.sh': `#!/bin/sh\ncase "$ASSAY_TASK $ASSAY_ATTEMPT" in
*/first\\ 1) ${spoil}; exit 7 ;;
*/first*) cat test.txt > '${project.log('again')}'; ls >> '${project.log('again')}'; echo done > first.txt ;;
*) ${seen(project)} ;;
esac
`,
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(3)
    expect(project.logged('seen')).toEqual(['strict', 'library', 'lib.txt', 'test.txt'])
    const answered = await project.asOwner(['requests', 'answer', await request(project), 'retry'])
    expect(answered.code, answered.stderr).toBe(0)
    const resumed = await project.run(['resume'])
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(project.logged('again')).toEqual(['lax', 'extra', 'second.txt', 'test.txt'])
    expect(project.read('app/test.txt')).toBe('lax\n')
    expect(project.read('app/second.txt')).toBe('done\n')
    const submitted = (await project.events()).findLast(({ type, stream }) => type === 'case.submitted' && stream.endsWith('/first'))
    expect((submitted?.data as { content: { paths: string[] } } | undefined)?.content.paths).toEqual([
      'extra/file.txt',
      'first.txt',
      'lib.txt',
      'test.txt',
    ])
  })

  it('that the owner accepts after it was held gets its work into the folder', { timeout }, async () => {
    const project = twoTasks({ first: '', second: '', review: { onExhausted: 'escalate' } })
    project.write({
      'worker.sh': `#!/bin/sh\ncase "$ASSAY_TASK" in\n*/first)\n${spoil}\n;;\n*)\n${seen(project)}\n;;\nesac\n`,
      'judge.sh': `#!/bin/sh\ncase "$ASSAY_TASK" in */first) echo 'SCORE: 10' ;; *) echo 'SCORE: 90' ;; esac\n`,
    })
    await project.run(['run', 'm.yaml'])
    expect(project.logged('seen')).toEqual(['strict', 'library', 'lib.txt', 'test.txt'])
    expect(project.read('app/test.txt')).toBe('strict\n')
    const answered = await project.asOwner(['requests', 'answer', await request(project), 'accept', '--reason', 'good enough'])
    expect(answered.code, answered.stderr).toBe(0)
    await project.run(['resume'])
    expect(project.read('app/test.txt')).toBe('lax\n')
    expect(project.read('app/extra/file.txt')).toBe('more\n')
    expect(project.has('app/lib.txt')).toBe(false)
    expect(project.read('app/second.txt')).toBe('done\n')
  })
})

describe('a shared folder that changes while its work is judged', () => {
  it('has the work as it was accepted when the next task begins, and it is said', { timeout }, async () => {
    const project = twoTasks({ first: 'echo good > work.txt', second: '' })
    project.write({
      'judge.sh': `#!/bin/sh
case "$ASSAY_TASK" in */first) echo x > '${project.log('judging')}'; while [ ! -e '${project.log('go')}' ]; do sleep 0.1; done ;; esac
echo 'SCORE: 90'
`,
      'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in
*/first) echo good > work.txt ;;
*) cat work.txt test.txt > '${project.log('seen')}'; echo done > second.txt ;;
esac
`,
    })
    const running = project.start(['run', 'm.yaml'])
    await vi.waitUntil(() => project.logged('judging').length > 0, { timeout: 60_000, interval: 50 })
    project.write({ 'app/work.txt': 'evil\n', 'app/late.txt': 'late\n', 'tmp/go': '' })
    const { code, stdout, stderr } = await running.ended
    expect(code, stdout + stderr).toBe(0)
    expect(project.logged('seen')).toEqual(['good', 'strict'])
    const changed = (await project.events()).find(({ type }) => type === 'folder.changed')
    expect(changed?.data).toMatchObject({ task: 'm-1/first', corrected: ['work.txt'], others: ['late.txt'] })
    const kept = (changed?.data as { kept?: string } | undefined)?.kept ?? 'nowhere'
    expect(readFileSync(`${kept}/work.txt`, 'utf8')).toBe('evil\n')
    expect(stdout + stderr).toContain('changed after m-1/first was handed in')
  })
})

describe('a worker that plants a package in a shared folder', () => {
  const check = `import pad from 'pad'\nconsole.log(pad())\nif (pad() !== 'right') process.exit(1)\n`
  const reports = async (project: Project) =>
    (await project.events())
      .filter(({ type }) => type === 'checks.passed' || type === 'checks.failed')
      .map(({ data }) => (data as { reports: CheckReport[] }).reports[0])

  function planting(worker: string): Project {
    const project = oneTask({
      worker,
      review: { maxAttempts: 1 },
      task: { workspace: { folder: '.' }, checks: [{ id: 'tests', kind: 'command', argv: ['node', 'check.mjs'], protect: ['check.mjs'] }] },
    })
    project.write({
      'check.mjs': check,
      'package.json': '{"private":true}\n',
      'node_modules/pad/package.json': '{"name":"pad","type":"module","main":"index.js"}\n',
      'node_modules/pad/index.js': `export default () => 'wrong'\n`,
    })
    return project
  }

  it('does not pass its check by it', { timeout }, async () => {
    const project = planting(`echo work > work.txt; echo "export default () => 'right'" > node_modules/pad/index.js`)
    await project.run(['run', 'm.yaml'])
    expect(project.read('node_modules/pad/index.js'), 'the attack took place').toContain('right')
    expect(await reports(project)).toMatchObject([
      {
        outcome: 'fail',
        output: 'right\n',
        findings: ['node_modules/pad is installed and was changed; it is in no snapshot'],
      },
    ])
  })

  it('does not pass its check by declaring what was there already', { timeout }, async () => {
    const project = planting(
      `echo '{"private":true,"dependencies":{"pad":"2"}}' > package.json; echo "export default () => 'right'" > node_modules/pad/index.js`,
    )
    await project.run(['run', 'm.yaml'])
    expect(await reports(project)).toMatchObject([{ outcome: 'fail', output: 'right\n' }])
  })

  const installing = (declares: string) => `${declares}; mkdir node_modules/more; echo 'export default 1' > node_modules/more/index.js`

  it('does not pass its check where nothing declares the new one', { timeout }, async () => {
    const project = planting(installing(`echo '{"private":true,"description":"more"}' > package.json`))
    project.write({ 'node_modules/pad/index.js': `export default () => 'right'\n` })
    await project.run(['run', 'm.yaml'])
    expect(await reports(project)).toMatchObject([
      { outcome: 'fail', findings: ['node_modules/more was installed by the worker; it is in no snapshot'] },
    ])
  })

  it('is shown to the judges where its work declares what it installs', { timeout }, async () => {
    const project = planting(installing(`echo '{"private":true,"dependencies":{"more":"2"}}' > package.json`))
    project.write({ 'node_modules/pad/index.js': `export default () => 'right'\n` })
    project.write({ 'judge.sh': `#!/bin/sh\ncat > '${project.log('prompt')}'\necho 'SCORE: 80'\n` })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(await reports(project)).toMatchObject([{ outcome: 'pass' }])
    expect(project.logged('prompt').join('\n')).toContain('node_modules/more was installed by the worker')
  })

  it('changes nothing: its check passes on what is installed', { timeout }, async () => {
    const project = planting('echo work > work.txt')
    project.write({ 'node_modules/pad/index.js': `export default () => 'right'\n` })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(await reports(project)).toMatchObject([{ outcome: 'pass', findings: [] }])
  })
})
