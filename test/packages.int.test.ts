import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CheckReport } from '../src/contract/check.ts'
import { useAssay } from './front-door/assay.ts'
import { type OneTask, oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

const reports = async (project: Project) =>
  (await project.events())
    .filter(({ type }) => type === 'checks.passed' || type === 'checks.failed')
    .map(({ data }) => (data as { reports: CheckReport[] }).reports)

/** A repository of several packages, one of them linked where programs look for what is installed. */
function packagesOfOneRepository(worker: string, task: Record<string, unknown>): Project {
  const project = oneTask({ worker, review: { maxAttempts: 1 }, task })
  project.write({
    'package.json': '{"private":true,"type":"module","workspaces":["packages/*"]}\n',
    'packages/lib/package.json': '{"name":"lib","type":"module","main":"index.js"}\n',
    'packages/lib/index.js': `export default 'before'\n`,
    'packages/scoped/package.json': '{"name":"@app/scoped","type":"module","main":"index.js"}\n',
    'packages/scoped/index.js': `export default 'before'\n`,
    'packages/scoped/cli.js': `#!/usr/bin/env node\nconsole.log('before')\n`,
    'node_modules/pad/package.json': '{"name":"pad","type":"module","main":"index.js"}\n',
    'node_modules/pad/index.js': `export default 'pad'\n`,
    'node_modules/.cache/tool/result': 'poisoned\n',
    'check.mjs': `import lib from 'lib'\nimport scoped from '@app/scoped'\nimport pad from 'pad'\nconsole.log(lib, scoped, pad)\nif (lib !== 'after' || scoped !== 'after') process.exit(1)\n`,
    '.gitignore': 'node_modules\n.assay\n.config\ntmp\n',
  })
  for (const [link, target] of [
    ['node_modules/lib', '../packages/lib'],
    ['node_modules/@app/scoped', '../../packages/scoped'],
    ['node_modules/.bin/scoped', '../@app/scoped/cli.js'],
  ] as const) {
    mkdirSync(join(project.folder, dirname(link)), { recursive: true })
    symlinkSync(target, join(project.folder, link))
  }
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...words], { cwd: project.folder })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'As it is')
  return project
}

describe.each(['worktree', 'folder: .'])('a package of the repository itself, in a workspace that is a %s', (workspace) => {
  const edit = (file: string) => `echo "export default 'after'" > packages/${file}/index.js`

  it('is the work’s where a check loads it', { timeout }, async () => {
    const project = packagesOfOneRepository(`${edit('lib')}; ${edit('scoped')}`, {
      workspace,
      checks: [
        { id: 'loads', kind: 'command', argv: ['node', 'check.mjs'] },
        { id: 'runs', kind: 'command', argv: ['sh', '-c', 'readlink -f node_modules/.bin/scoped node_modules/pad; pwd -P'] },
      ],
    })
    const { code, stdout, stderr } = await project.run(['run', 'm.yaml'])
    const [[loads, runs] = []] = await reports(project)
    expect(loads).toMatchObject({ outcome: 'pass', output: 'after after pad\n' })
    const [program, pad, copy] = runs?.output.trim().split('\n') ?? []
    expect(program).toBe(`${copy}/packages/scoped/cli.js`)
    expect(pad).toBe(`${project.folder}/node_modules/pad`)
    expect(code, stdout + stderr).toBe(0)
  })

  it('is as it was where the check protects it', { timeout }, async () => {
    const project = packagesOfOneRepository(`${edit('lib')}; ${edit('scoped')}`, {
      workspace,
      checks: [{ kind: 'command', argv: ['node', 'check.mjs'], protect: ['packages/lib/**'] }],
    })
    await project.run(['run', 'm.yaml'])
    expect(await reports(project)).toMatchObject([
      [{ outcome: 'fail', output: 'before after pad\n', findings: ['packages/lib/index.js is protected and was edited'] }],
    ])
  })
})

describe('what tools keep beside installed packages', () => {
  it('is an empty place of its own for every check', { timeout }, async () => {
    const look = 'ls -A node_modules/.cache; echo mine > node_modules/.cache/mine && ls node_modules/.cache'
    const argv = ['sh', '-c', look]
    const project = packagesOfOneRepository('echo x > work.txt', {
      workspace: 'worktree',
      checks: ['a', 'b'].map((id) => ({ id, kind: 'command', argv, proves: [] })),
    })
    await project.run(['run', 'm.yaml'])
    expect(await reports(project)).toMatchObject([
      [
        { outcome: 'pass', output: 'mine\n' },
        { outcome: 'pass', output: 'mine\n' },
      ],
    ])
    expect(project.has('node_modules/.cache/mine')).toBe(false)
  })
})

describe('a package of the repository, for a task with a folder to itself', () => {
  it('is that of the repository, whatever the work has under its path', { timeout }, async () => {
    const project = packagesOfOneRepository(`mkdir -p packages/lib; echo "export default 'after'" > packages/lib/index.js`, {
      checks: [{ kind: 'command', argv: ['node', '-e', "import('lib').then((lib) => console.log(lib.default))"] }],
    } satisfies OneTask['task'])
    await project.run(['run', 'm.yaml'])
    expect(await reports(project)).toMatchObject([[{ outcome: 'pass', output: 'before\n' }]])
  })
})

const pad = { 'node_modules/pad/package.json': '{"name":"pad","type":"module","main":"index.js"}\n' }
const accepted = async (project: Project, task = '') =>
  (await project.events()).some(({ type, stream }) => type === 'task.accepted' && stream.endsWith(task))
const plant = (place: string, text: string) =>
  `mkdir -p ${place}; echo '{"name":"pad","type":"module","main":"index.js"}' > ${place}/package.json; echo "${text}" > ${place}/index.js`

describe('a package that is installed already', () => {
  it.each([
    ['nearer than the one in the root', '.', 'app/node_modules/pad', 'app/package.json'],
    ['in the folder, where the one that is there is above it', 'app', 'node_modules/pad', 'package.json'],
  ])('and that the worker installs %s fails the check, declared or not', { timeout }, async (_where, folder, place, manifest) => {
    const project = oneTask({
      worker: `${plant(place, "export default 'right'")}; echo '{"private":true,"dependencies":{"pad":"2"}}' > ${manifest}`,
      review: { maxAttempts: 1 },
      task: { workspace: { folder }, checks: [{ id: 'tests', kind: 'command', argv: ['node', 'app/check.mjs'] }] },
    })
    project.write({
      ...pad,
      'node_modules/pad/index.js': `export default 'wrong'\n`,
      'app/package.json': '{"private":true}\n',
      'app/check.mjs': `import pad from 'pad'\nconsole.log(pad)\nif (pad !== 'right') process.exit(1)\n`,
    })
    await project.run(['run', 'm.yaml'])
    const [[report, installed] = []] = await reports(project)
    expect(report).toMatchObject({ id: 'tests', outcome: 'fail', output: 'right\n' })
    expect(report?.findings.join('\n')).toContain(`${place} was installed by the worker where another of its name was found before`)
    expect(installed).toMatchObject({ id: 'installed-packages', outcome: 'fail', summary: expect.stringContaining(place) })
    expect(await accepted(project)).toBe(false)
  })

  it('and changed fails a task without checks, its worker hears of it, and it never becomes what the next task builds on', {
    timeout,
  }, async () => {
    const project = oneTask({ worker: '', review: { maxAttempts: 2, onExhausted: 'fail' } })
    const task = { assignTo: 'dev', description: 'Do it.', workspace: { folder: '.' } }
    project.write({
      ...pad,
      'node_modules/pad/index.js': `export default 'wrong'\n`,
      'check.mjs': `import pad from 'pad'\nif (pad !== 'right') process.exit(1)\n`,
      'm.yaml': {
        name: 'M',
        tasks: [
          { ...task, title: 'first', priority: 5 },
          { ...task, title: 'second', checks: [{ kind: 'command', argv: ['node', 'check.mjs'] }] },
        ],
      },
      'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in */first) echo "export default 'right'" > node_modules/pad/index.js ;; esac
echo "$ASSAY_ATTEMPT" > "work-$(basename "$ASSAY_TASK").txt"
`,
    })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(1)
    expect(project.read('node_modules/pad/index.js'), 'the attack took place').toContain('right')
    const ofFirst = (await project.events()).filter(({ type, stream }) => type === 'checks.failed' && stream.endsWith('/first'))
    expect(ofFirst.map(({ data }) => (data as { reports: CheckReport[] }).reports.map(({ id }) => id))).toEqual([
      ['installed-packages'],
      ['installed-packages'],
    ])
    const rejected = (await project.events()).find(({ type }) => type === 'attempt.rejected')
    expect(rejected?.data).toMatchObject({ reports: [{ summary: expect.stringContaining('node_modules/pad') }] })
    expect(await accepted(project)).toBe(false)
  })

  it('and that the worker has installed again as it was is no change', { timeout }, async () => {
    const project = oneTask({
      worker: 'cp -R node_modules/pad p; rm -R node_modules/pad; mv p node_modules/pad; echo x > work.txt',
      review: { maxAttempts: 1 },
      task: { workspace: { folder: '.' }, checks: [{ kind: 'command', argv: ['node', 'check.mjs'] }] },
    })
    project.write({ ...pad, 'node_modules/pad/index.js': 'export default 1\n', 'check.mjs': `import 'pad'\n` })
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
    expect(await reports(project)).toMatchObject([[{ outcome: 'pass', findings: [] }]])
  })
})

describe('a judge that loads a package from a folder that the work is done in', () => {
  const judging = (worker: string): Project => {
    const project = oneTask({
      worker: `echo bad > work.txt; ${worker}`,
      eyes: { argv: ['node', 'judge/judge.mjs'] },
      review: { maxAttempts: 1 },
      task: { workspace: { folder: '.' } },
    })
    project.write({
      'judge/package.json': '{"private":true,"type":"module"}\n',
      'judge/judge.mjs': `import score from 'pad'\nconsole.log('SCORE: ' + score)\n`,
      ...pad,
      'node_modules/pad/index.js': 'export default 10\n',
    })
    return project
  }

  it('does not load what the worker has put nearer', { timeout }, async () => {
    const project = judging(plant('judge/node_modules/pad', 'export default 100'))
    await project.run(['run', 'm.yaml'])
    expect(project.read('judge/node_modules/pad/index.js'), 'the attack took place').toContain('100')
    expect(await accepted(project)).toBe(false)
  })

  it('does not load a new one that it would be glad to find', { timeout }, async () => {
    const project = judging(
      `${plant('judge/node_modules/chk', 'export default 100')}; echo '{"private":true,"type":"module","dependencies":{"chk":"1"}}' > judge/package.json`,
    )
    project.write({
      'judge/judge.mjs': `const score = await import('chk').then((one) => one.default, () => 10)\nconsole.log('SCORE: ' + score)\n`,
    })
    await project.run(['run', 'm.yaml'])
    expect(project.read('judge/node_modules/chk/index.js'), 'the attack took place').toContain('100')
    const verdict = (await project.events()).find(({ type }) => type === 'verdict.recorded')
    expect(JSON.stringify(verdict?.data)).toContain('"SCORE: 10\\n"')
    expect(await accepted(project)).toBe(false)
  })

  it('does not load one that was changed, not even after a hold and the owner’s leave to go on', { timeout }, async () => {
    const project = judging(
      `[ "$ASSAY_ATTEMPT" = 1 ] && echo 'export default 100' > node_modules/pad/index.js; echo "$ASSAY_ATTEMPT" > turn.txt`,
    )
    project.write({ 'assay.yaml': project.read('assay.yaml').replace('maxAttempts: 1', 'maxAttempts: 1\n  onExhausted: escalate') })
    await project.run(['run', 'm.yaml'])
    expect(project.read('node_modules/pad/index.js'), 'the attack took place').toContain('100')
    const [request] = (await project.json<{ request: string }>(['requests'])).lines
    const answered = await project.asOwner(['requests', 'answer', request?.request ?? 'none', 'retry'])
    expect(answered.code, answered.stderr).toBe(0)
    await project.run(['resume'])
    const events = await project.events()
    expect(events.filter(({ type }) => type === 'case.submitted')).toHaveLength(2)
    expect(events.filter(({ type }) => type === 'checks.failed')).toHaveLength(2)
    expect(events.some(({ type }) => type === 'verdict.recorded')).toBe(false)
    expect(await accepted(project)).toBe(false)
  })
})
