import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import { whileRuns } from './front-door/processes.ts'
import type { Project } from './front-door/project.ts'

const timeout = 180_000
useAssay()

/** What blocks until the test lets it go on, and says that it does. */
function gate(): { env: Record<string, string>; at(name: string): string; shell: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-meeting-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => join(folder, name)
  const shell = `touch '${at('here')}'; n=0; until [ -e '${at('go')}' ] || [ $n = 1200 ]; do sleep 0.05; n=$((n+1)); done`
  return { env: { ASSAY_SANDBOX_WRITABLE: folder }, at, shell }
}

/** One task in the project's folder whose process is killed in the middle of what blocks; from then on nothing blocks. */
async function killed(make: (shell: string) => Project): Promise<{ project: Project; env: Record<string, string> }> {
  const { env, at, shell } = gate()
  const project = make(shell)
  const run = project.start(['run', 'm.yaml'], { env })
  await whileRuns(run, 'it is in the middle', () => existsSync(at('here')))
  run.child.kill('SIGKILL')
  await run.ended
  writeFileSync(at('go'), '')
  return { project, env }
}

const worker = 'echo "of $ASSAY_TASK" > work.txt'
const folder = { folder: '.' }
const limits = { workerLease: '5s' }
const statusOf = async (project: Project, task: string) =>
  (await project.json<{ id: string; status: string; flag?: string }>(['task', 'list'])).lines.find(({ id }) => id === task)

it.each([
  [
    'checking',
    (shell: string) => oneTask({ worker, limits, task: { workspace: folder, checks: [{ kind: 'command', argv: ['sh', '-c', shell] }] } }),
  ],
  ['in_review', (shell: string) => oneTask({ worker, limits, judge: `${shell}; echo 'SCORE: 80'`, task: { workspace: folder } })],
] as const)(
  'a folder that a task has which nobody goes on with (%s) is given to the next run, and its work is not lost',
  {
    timeout,
  },
  async (status, make) => {
    const { project, env } = await killed(make)
    expect(await statusOf(project, 'm-1/a')).toMatchObject({ status })
    const { code, stdout, stderr } = await project.run(['run', '--fresh', 'm.yaml'], { env })
    expect(code, stdout + stderr).toBe(0)
    expect(project.read('work.txt')).toBe('of m-2/a\n')
    expect(await statusOf(project, 'm-1/a')).toMatchObject({ status })
    const resumed = await project.run(['resume'], { env })
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0)
    expect(await statusOf(project, 'm-1/a')).toMatchObject({ status: 'done', flag: 'clean' })
    expect(project.read('work.txt')).toBe('of m-1/a\n')
  },
)

it('a folder in which an attempt was cut off is not waited for without a word: the next run says who has it', { timeout }, async () => {
  const { project, env } = await killed((shell) => oneTask({ worker: `${shell}; ${worker}`, limits, task: { workspace: folder } }))
  const { code, stdout, stderr } = await project.run(['run', '--fresh', 'm.yaml'], { env })
  expect(code, stdout + stderr).toBe(3)
  expect(stdout + stderr).toContain('m-1/a')
  expect(await statusOf(project, 'm-2/a')).toMatchObject({ status: 'held' })
  const resumed = await project.run(['resume', 'm-1'], { env })
  expect(await statusOf(project, 'm-1/a'), resumed.stdout + resumed.stderr).toMatchObject({ status: 'done', flag: 'clean' })
})
