import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CheckReport } from '../src/contract/check.ts'
import { useAssay } from './front-door/assay.ts'
import { until } from './front-door/processes.ts'
import { makeProject, type Project } from './front-door/project.ts'

const timeout = 180_000
useAssay()

interface Neighbours {
  /** Shell text of the worker that has the project's folder; what comes after it waits for the other task. */
  meddles: string
  /** The other task. */
  other: Record<string, unknown>
  files: Record<string, string>
  judge?: string
}

const waitFor = (file: string) => `n=0; until [ -e '${file}' ] || [ $n = 1200 ]; do sleep 0.05; n=$((n+1)); done`

/** A folder that every program of a run may write, and that is no part of anybody's work. */
function meetingPlace(): { env: Record<string, string>; at(name: string): string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-meeting-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { env: { ASSAY_SANDBOX_WRITABLE: folder }, at: (name) => join(folder, name) }
}

type Met = { project: Project; place: ReturnType<typeof meetingPlace> }

/** One task works in the project's folder from before the other's work until that is over. */
function neighbours({ meddles, other, files, judge = "echo 'SCORE: 80'" }: Neighbours): Met {
  const place = meetingPlace()
  const task = { assignTo: 'dev', description: 'Do it.' }
  const project = makeProject({
    'assay.yaml': {
      brains: { hands: { kind: 'command', argv: ['./worker.sh'] }, eyes: { kind: 'command', argv: ['./judge.sh'] } },
      agents: { dev: { role: 'engineer', brain: 'hands' }, qa: { role: 'reviewer', brain: 'eyes' } },
      review: { panel: { size: 1, quorum: 1 }, maxAttempts: 1, onExhausted: 'fail' },
      limits: { judgeRetries: 0 },
    },
    'm.yaml': {
      name: 'M',
      tasks: [
        { ...task, title: 'holder', priority: 5, workspace: { folder: '.' } },
        { ...task, title: 'other', ...other },
      ],
    },
    'judge.sh': `#!/bin/sh\n${judge}\n`,
    ...files,
  })
  project.write({
    'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in
  */holder)
    ${meddles}
    touch '${place.at('meddled')}'
    ${waitFor(place.at('over'))} ;;
  *)
    ${waitFor(place.at('meddled'))} ;;
esac
echo x > "work-$(basename "$ASSAY_TASK").txt"
`,
  })
  return { project, place }
}

const ended = ['task.accepted', 'task.failed', 'task.held', 'task.skipped']
const of = async (project: Project, task: string) => (await project.events()).filter(({ stream }) => stream.endsWith(`/${task}`))

/** Runs the mission; the one that has the folder goes on when the other task has come to an end. */
async function played({ project, place }: Met): Promise<{ reports: CheckReport[]; types: string[]; detail: string }> {
  const run = project.start(['run', 'm.yaml'], { env: place.env })
  const isOver = async () => (await of(project, 'other')).some(({ type }) => ended.includes(type))
  await until('the other task is over', isOver, 120_000).catch(async (error: Error) => {
    const events = (await project.events()).map(({ stream, type, data }) => `${stream} ${type} ${JSON.stringify(data).slice(0, 300)}`)
    throw new Error(`${error.message}; the journal has\n${events.join('\n')}`)
  })
  writeFileSync(place.at('over'), '')
  const { stdout, stderr } = await run.ended
  expect(existsSync(place.at('meddled')), `the holder did its part: ${stdout}${stderr}`).toBe(true)
  const events = await of(project, 'other')
  const checked = events.find(({ type }) => type === 'checks.passed' || type === 'checks.failed')
  return {
    reports: (checked?.data as { reports: CheckReport[] } | undefined)?.reports ?? [],
    types: events.map(({ type }) => type),
    detail: JSON.stringify(events.map(({ data }) => data)),
  }
}

const pad = {
  'node_modules/pad/package.json': '{"name":"pad","type":"module","main":"index.js"}\n',
  'node_modules/pad/index.js': `export default 'wrong'\n`,
}
const loadsPad = `const { default: pad } = await import('pad')\nconsole.log(pad)\nif (pad !== 'right') process.exit(1)\n`

function committed(met: Met): Met {
  const { project } = met
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...words], { cwd: project.folder })
  project.write({ '.gitignore': 'node_modules\n.assay\n.config\ntmp\n' })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'As it is')
  return met
}

describe('a package that the worker of another task has changed', () => {
  it.each(['scratch', 'worktree'])('lets no check of a task pass whose workspace is a %s', { timeout }, async (workspace) => {
    const met = committed(
      neighbours({
        meddles: `echo "export default 'right'" > node_modules/pad/index.js`,
        other: { workspace, checks: [{ kind: 'command', argv: ['node', '--input-type=module', '-e', loadsPad] }] },
        files: pad,
      }),
    )
    const { reports, types } = await played(met)
    expect(reports[0]).toMatchObject({ outcome: 'fail', summary: expect.stringContaining('node_modules/pad') })
    expect(reports[0]?.findings.join('\n')).toContain('m-1/holder')
    expect(types).not.toContain('task.accepted')
  })

  it.each([
    ['scratch', {}],
    ['folder of its own below', { workspace: { folder: 'site' } }],
  ])('lets none pass after that task has ended either (%s)', { timeout }, async (_which, workspace) => {
    const met = neighbours({
      meddles: `echo "export default 'right'" > node_modules/pad/index.js`,
      other: {},
      files: { ...pad, 'site/a.txt': 'a\n' },
    })
    const { project, place } = met
    writeFileSync(place.at('over'), '')
    const task = { assignTo: 'dev', description: 'Do it.' }
    const argv = ['node', '--input-type=module', '-e', loadsPad]
    project.write({
      'first.yaml': { name: 'First', tasks: [{ ...task, title: 'holder', workspace: { folder: '.' } }] },
      'm.yaml': { name: 'M', tasks: [{ ...task, title: 'other', ...workspace, checks: [{ kind: 'command', argv }] }] },
    })
    expect((await project.run(['run', 'first.yaml'], { env: place.env })).code).toBe(1)
    expect(project.read('node_modules/pad/index.js'), 'the attack took place').toContain('right')
    const { reports, types } = await played(met)
    expect(reports[0]).toMatchObject({ outcome: 'fail', output: 'right\n', summary: expect.stringContaining('node_modules/pad') })
    expect(types).not.toContain('task.accepted')
  })

  it('and that is left is loaded by no judge: it is not asked, and the package is named', { timeout }, async () => {
    const met = neighbours({
      meddles: `echo 'export default 100' > node_modules/pad/index.js`,
      other: {},
      files: {
        ...pad,
        'node_modules/pad/index.js': 'export default 10\n',
        'judge.mjs': `import pad from 'pad'\nconsole.log('SCORE: ' + pad)\n`,
      },
      judge: 'exec node "$(dirname "$0")/judge.mjs"',
    })
    const { project, place } = met
    const task = { assignTo: 'dev', description: 'Do it.' }
    writeFileSync(place.at('over'), '')
    project.write({
      'first.yaml': { name: 'First', tasks: [{ ...task, title: 'holder', workspace: { folder: '.' } }] },
      'm.yaml': { name: 'M', tasks: [{ ...task, title: 'other' }] },
    })
    await project.run(['run', 'first.yaml'], { env: place.env })
    expect(project.read('node_modules/pad/index.js'), 'the attack took place').toContain('100')
    const { types, detail } = await played(met)
    expect(types).not.toContain('verdict.recorded')
    expect(detail).toContain('has changed node_modules/pad: this judge is not asked')
  })

  it('and that it has added is not there for the check of a task beside it, which passes all the same', { timeout }, async () => {
    const met = neighbours({
      meddles: `mkdir -p node_modules/new; echo 'module.exports = 1' > node_modules/new/index.js`,
      other: { checks: [{ kind: 'command', argv: ['sh', '-c', 'ls node_modules'] }] },
      files: pad,
    })
    const { reports, types } = await played(met)
    expect(reports).toMatchObject([{ outcome: 'pass', output: 'pad\n', findings: [] }])
    expect(types).toContain('task.accepted')
  })

  it('and put back while the check ran lets it not pass', { timeout }, async () => {
    const met = neighbours({
      meddles: '',
      other: {},
      files: { ...pad, 'node_modules/evil/package.json': pad['node_modules/pad/package.json'] },
    })
    const { project, place } = met
    // The check asks for the swap, loads, and asks for it to be put back, as often as it is run.
    const touch = (name: string) => `touch '${place.at(name)}'`
    project.write({
      'node_modules/evil/index.js': `export default 'right'\n`,
      'check.sh': `${touch('swap')}
${waitFor(place.at('swapped'))}
node --input-type=module -e "const { default: pad } = await import('pad'); console.log(pad); if (pad !== 'right') process.exit(1)"
code=$?
rm -f '${place.at('swapped')}'
${touch('back')}
n=0; while [ -e '${place.at('back')}' ] && [ $n != 1200 ]; do sleep 0.05; n=$((n+1)); done
echo "code $code" >> '${place.at('checked')}'
exit $code
`,
      'm.yaml': {
        name: 'M',
        tasks: [
          { title: 'holder', assignTo: 'dev', description: 'Do it.', priority: 5, workspace: { folder: '.' } },
          { title: 'other', assignTo: 'dev', description: 'Do it.', checks: [{ id: 'loads', kind: 'command', argv: ['sh', 'check.sh'] }] },
        ],
      },
      'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in
  */other) ${waitFor(place.at('meddled'))} ;;
  *)
    ${touch('meddled')}
    n=0
    until [ -e '${place.at('over')}' ] || [ $n = 2400 ]; do
      if [ -e '${place.at('swap')}' ]; then
        rm '${place.at('swap')}'
        mv node_modules/pad node_modules/kept; mv node_modules/evil node_modules/pad; touch '${place.at('swapped')}'
      fi
      if [ -e '${place.at('back')}' ]; then
        mv node_modules/pad node_modules/evil; mv node_modules/kept node_modules/pad; rm '${place.at('back')}'
      fi
      sleep 0.05; n=$((n+1))
    done ;;
esac
echo x > "work-$(basename "$ASSAY_TASK").txt"
`,
    })
    const { reports, types } = await played(met)
    expect(readFileSync(place.at('checked'), 'utf8'), 'the attack took place').toContain('code 0')
    expect(project.read('node_modules/pad/index.js'), 'and was undone').toContain('wrong')
    expect(reports[0]).toMatchObject({ id: 'loads', outcome: 'error', summary: expect.stringContaining('node_modules/pad') })
    expect(types).not.toContain('task.accepted')
  })
})

describe('files beside the configuration, while another task’s worker writes there', () => {
  it('are as they were before that work where a check runs and loads them', { timeout }, async () => {
    const met = neighbours({
      meddles: `echo 'good() { true; }' > lib.sh; printf '. "$(dirname "$0")/lib.sh"\\necho rewritten\\ngood\\n' > check.sh`,
      other: { checks: [{ kind: 'command', argv: ['sh', 'check.sh'] }] },
      files: { 'lib.sh': 'good() { grep good work-other.txt; }\n', 'check.sh': '. "$(dirname "$0")/lib.sh"\necho own\ngood\n' },
    })
    const { reports, types } = await played(met)
    expect(reports).toMatchObject([{ outcome: 'fail', output: expect.stringContaining('own\n') }])
    expect(types).not.toContain('task.accepted')
  })

  it('are as they were where a judge loads them', { timeout }, async () => {
    const met = neighbours({
      meddles: `echo 'score=100' > lib.sh`,
      other: {},
      files: { 'lib.sh': 'score=10\n' },
      judge: '. "$(dirname "$0")/lib.sh"\necho "SCORE: $score"',
    })
    const { types, detail } = await played(met)
    expect(detail).toContain('SCORE: 10\\n')
    expect(types).not.toContain('task.accepted')
  })

  it('lets a check begin again that ran when that task took the folder', { timeout }, async () => {
    const met = neighbours({ meddles: '', other: {}, files: { 'lib.sh': 'good() { grep good work-other.txt; }\n' } })
    const { project, place } = met
    const task = { assignTo: 'dev', description: 'Do it.' }
    project.write({
      'check.sh': `touch '${place.at('checking')}'
${waitFor(place.at('meddled'))}
echo once >> '${place.at('checks')}'
. "$(dirname "$0")/lib.sh"
good
`,
      'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in */holder)
  echo 'good() { true; }' > lib.sh
  touch '${place.at('meddled')}'
  ${waitFor(place.at('over'))} ;;
esac
echo x > "work-$(basename "$ASSAY_TASK").txt"
`,
      // The holder begins only once the check is at work.
      'first.yaml': { name: 'F', tasks: [{ ...task, title: 'other', checks: [{ kind: 'command', argv: ['sh', 'check.sh'] }] }] },
      'm.yaml': { name: 'M', tasks: [{ ...task, title: 'holder', workspace: { folder: '.' } }] },
    })
    const first = project.start(['run', 'first.yaml'], { env: place.env })
    await until('the check runs', () => existsSync(place.at('checking')))
    const second = project.start(['run', 'm.yaml'], { env: place.env })
    await until('the other task is over', async () => (await of(project, 'other')).some(({ type }) => ended.includes(type)), 120_000)
    writeFileSync(place.at('over'), '')
    await Promise.all([first.ended, second.ended])
    expect(readFileSync(place.at('checks'), 'utf8'), 'what ran beside the new worker is not what counts').toBe('once\nonce\n')
    const types = (await of(project, 'other')).map(({ type }) => type)
    expect(types).toContain('checks.failed')
    expect(types).not.toContain('task.accepted')
  })
})
