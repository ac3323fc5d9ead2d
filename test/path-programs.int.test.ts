import { existsSync, linkSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CheckReport } from '../src/contract/check.ts'
import { agentless, contented, withClaude } from './front-door/agents.ts'
import { useAssay, writeFiles } from './front-door/assay.ts'
import { type OneTask, oneTask } from './front-door/one-task.ts'
import { until } from './front-door/processes.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
useAssay()

const bin = '.venv/bin'
/** The owner's shell has an environment of the project active, in which no agent is installed. */
const active = ({ folder }: Project) => ({ env: { PATH: `${join(folder, bin)}:${agentless}` } })
const inFolder = { workspace: { folder: '.' } }
const strict = { maxAttempts: 1, onExhausted: 'fail' }

/** A project with such an environment: a link to a program of the system and a script. */
function withEnvironment(task: OneTask): Project {
  const project = oneTask({ review: strict, ...task, task: { ...inFolder, ...task.task } })
  project.write({ [`${bin}/tool`]: '#!/bin/sh\necho tool\n' })
  symlinkSync(process.execPath, join(project.folder, bin, 'runtime'))
  return project
}

function outside(files: Record<string, string>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-outside-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFiles(folder, files)
  return folder
}

/** A judge outside of the project whose first line looks its runtime up. */
const judgeOutside = (score: number) => join(outside({ 'judge.mjs': `#!/usr/bin/env node\nconsole.log('SCORE: ${score}')\n` }), 'judge.mjs')

const plant = (name: string, text: string) =>
  `mkdir -p ${bin}; printf '#!/bin/sh\\n${text}\\n' > ${bin}/${name}; chmod 755 ${bin}/${name}; echo x > work.txt`

const ofTask = async (project: Project, task: string) => (await project.events()).filter(({ stream }) => stream.endsWith(`/${task}`))

async function outcome(project: Project, task = 'a') {
  const events = await ofTask(project, task)
  const checked = events.find(({ type }) => type === 'checks.passed' || type === 'checks.failed')
  return {
    types: events.map(({ type }) => type),
    reports: (checked?.data as { reports: CheckReport[] } | undefined)?.reports ?? [],
    said: JSON.stringify(events.map(({ data }) => data)),
  }
}

async function refused(project: Project, name: string): Promise<void> {
  await project.run(['run', 'm.yaml'], active(project))
  const { types, said } = await outcome(project)
  expect(types).toContain('case.submitted')
  expect(types).not.toContain('verdict.recorded')
  expect(types).not.toContain('task.accepted')
  expect(said).toContain(`${bin}/${name}`)
}

/** One that is content with everything, for the worker to put where PATH leads. */
function withPlantedAgent(project: Project): Project {
  project.write({ 'planted.txt': contented })
  return project
}
const plantAgent = `mkdir -p ${bin}; cp planted.txt ${bin}/claude; chmod 755 ${bin}/claude; echo tested > done.test.txt`
const agentJudge = { eyes: { kind: 'agent', agent: 'claude', argv: undefined } }

describe('a program that the worker puts in a folder of PATH', () => {
  it('is no judge where an agent of its name is to judge', { timeout }, async () => {
    await refused(withPlantedAgent(withEnvironment({ worker: plantAgent, ...agentJudge })), 'claude')
  })

  it('does not run a judge that lies outside and looks its runtime up', { timeout }, async () => {
    const eyes = { argv: [judgeOutside(10)] }
    await refused(withEnvironment({ worker: plant('node', 'echo SCORE: 95'), eyes }), 'node')
  })

  it('lets no check pass', { timeout }, async () => {
    const checks = [{ id: 'tests', kind: 'command', argv: ['node', '-e', 'process.exit(1)'] }]
    const project = withEnvironment({ worker: plant('node', 'exit 0'), task: { checks } })
    await refused(project, 'node')
    const { reports } = await outcome(project)
    expect(reports[0]).toMatchObject({ id: 'tests', outcome: 'fail', summary: expect.stringContaining(`${bin}/node`) })
  })

  it('counts where the folder was not there before, too', { timeout }, async () => {
    const project = oneTask({ worker: plant('node', 'echo SCORE: 95'), review: strict, eyes: { argv: [judgeOutside(10)] }, task: inFolder })
    await refused(project, 'node')
  })
})

describe('a program of such a folder that the worker found there', () => {
  const plain = 'echo x > work.txt'

  it('is used by checks and judges where the worker lets it be', { timeout }, async () => {
    const checks = [
      { id: 'script', kind: 'command', argv: ['tool'] },
      { id: 'link', kind: 'command', argv: ['runtime', '-e', 'process.exit(0)'] },
    ]
    const project = withEnvironment({ worker: `${plain}; tool > said.txt`, eyes: { argv: [judgeOutside(90)] }, task: { checks } })
    const { code, stdout, stderr } = await project.run(['run', 'm.yaml'], active(project))
    expect((await outcome(project)).reports).toMatchObject([
      { id: 'script', outcome: 'pass', output: 'tool\n', findings: [] },
      { id: 'link', outcome: 'pass', findings: [] },
    ])
    expect(code, stdout + stderr).toBe(0)
  })

  it('is no agent that judges, even where the worker lets it be: agents update themselves, and nobody can tell who did', {
    timeout,
  }, async () => {
    const project = withEnvironment({ worker: 'echo tested > done.test.txt', ...agentJudge })
    project.write({ [`${bin}/claude`]: contented })
    const { HOME } = withClaude()
    const run = await project.run(['run', 'm.yaml'], { env: { HOME, ...active(project).env } })
    expect(run.code, run.stdout + run.stderr).not.toBe(0)
    const { types, said } = await outcome(project)
    expect(types).not.toContain('verdict.recorded')
    expect(said).toContain('claude does not judge: its program is')
  })

  it.each([
    ['changes it', 'tool', `echo 'exit 0' > ${bin}/tool`],
    ['removes it', 'tool', `rm ${bin}/tool`],
    ['leads it elsewhere', 'runtime', `ln -sf /bin/true ${bin}/runtime`],
    ['swaps the whole folder', 'tool', `mv .venv old; mkdir -p other/bin; cp old/bin/tool other/bin/tool; ln -s other .venv`],
  ])('lets no check pass and no judge judge where the worker %s', { timeout }, async (_how, name, does) => {
    const checks = [{ id: 'tests', kind: 'command', argv: ['true'] }]
    const project = withEnvironment({ worker: `${plain}; ${does}`, eyes: { argv: [judgeOutside(90)] }, task: { checks } })
    await refused(project, name)
  })
})

describe('a program that the work of another task has put there', () => {
  const task = { assignTo: 'dev', description: 'Do it.' }

  it('and that was left behind counts for the tasks after it, until the owner puts it right', { timeout }, async () => {
    const checks = [{ id: 'tests', kind: 'command', argv: ['tool'] }]
    const project = withEnvironment({ worker: '' })
    // No snapshot has files with several names, as some installers make them: what became of one is not put back.
    linkSync(join(project.folder, bin, 'tool'), join(project.folder, '.venv', 'tool'))
    project.write({
      'worker.sh': `#!/bin/sh\necho "$ASSAY_TASK" > work.txt\ncase "$ASSAY_TASK" in */first) echo 'echo planted' > ${bin}/tool ;; esac\n`,
      'first.yaml': { name: 'First', tasks: [{ ...task, ...inFolder, title: 'first' }] },
      'm.yaml': { name: 'M', tasks: [{ ...task, title: 'a', checks }] },
      'again.yaml': { name: 'Again', tasks: [{ ...task, ...inFolder, title: 'again' }] },
      'then.yaml': { name: 'Then', tasks: [{ ...task, ...inFolder, title: 'then', checks }] },
    })
    await project.run(['run', 'first.yaml'], active(project))
    expect((await outcome(project, 'first')).types).toContain('task.failed')
    expect(project.read(`${bin}/tool`), 'the attack took place').toContain('planted')
    await refused(project, 'tool')
    await project.run(['run', 'again.yaml'], { env: { PATH: agentless } })
    expect((await outcome(project, 'again')).types, 'nobody runs it where PATH does not lead there').toContain('task.accepted')
    await project.run(['run', 'then.yaml'], active(project))
    const then = await outcome(project, 'then')
    expect(then.types, 'it is not forgotten meanwhile').not.toContain('task.accepted')
    expect(then.reports.map(({ id }) => id)).toContain('path-programs')
    project.write({ [`${bin}/tool`]: '#!/bin/sh\necho tool\n' })
    const { code, stdout, stderr } = await project.run(['run', 'then.yaml'], active(project))
    expect(code, stdout + stderr).toBe(0)
  })

  it('and that works there now is no judge of a task with a folder to itself', { timeout }, async () => {
    const project = withPlantedAgent(withEnvironment({ worker: '', ...agentJudge }))
    const meeting = outside({})
    const [meddled, over] = [join(meeting, 'meddled'), join(meeting, 'over')]
    const waitFor = (file: string) => `n=0; until [ -e '${file}' ] || [ $n = 1200 ]; do sleep 0.05; n=$((n+1)); done`
    project.write({
      'worker.sh': `#!/bin/sh
case "$ASSAY_TASK" in
  */holder) ${plantAgent}; touch '${meddled}'; ${waitFor(over)} ;;
  *) ${waitFor(meddled)}; echo tested > done.test.txt ;;
esac
`,
      'm.yaml': {
        name: 'M',
        tasks: [
          { ...task, ...inFolder, title: 'holder', priority: 5 },
          { ...task, title: 'a' },
        ],
      },
    })
    const run = project.start(['run', 'm.yaml'], { env: { ...active(project).env, ASSAY_SANDBOX_WRITABLE: meeting } })
    const ended = ['task.accepted', 'task.failed', 'task.held']
    await until('the other task is over', async () => (await ofTask(project, 'a')).some(({ type }) => ended.includes(type)), 60_000)
    writeFileSync(over, '')
    await run.ended
    const { types, said } = await outcome(project)
    expect(existsSync(meddled), 'the attack took place').toBe(true)
    expect(types).not.toContain('verdict.recorded')
    expect(said).toContain(`${bin}/claude: this judge is not asked`)
  })
})
