import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sandboxState } from '../src/adapters/process/sandbox.ts'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'

const timeout = 120_000
useAssay()
const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`what workers can reach is not tested: ${sandbox.reason}; install bubblewrap`)

/** Without a folder that every run may write: as a person runs it. */
const plain = { env: { ASSAY_SANDBOX_WRITABLE: '' } }

describe.skipIf(!sandbox.usable)('a worker in a sandbox', () => {
  it('reaches no program of the person through /tmp', { timeout }, async () => {
    const socket = `/tmp/assay-reach-${process.pid}.sock`
    let visits = 0
    const server = createServer((visitor) => {
      visits += 1
      visitor.end()
    })
    await new Promise<void>((ready) => server.listen(socket, ready))
    onTestFinished(() => void server.close())
    const script = `require('net').connect('${socket}').on('connect', () => console.log('reached')).on('error', (e) => console.log(e.code))`
    const project = oneTask({ worker: `'${process.execPath}' -e "${script}" > out.txt`, task: { workspace: { folder: 'app' } } })
    await project.run(['run', 'm.yaml'], plain)
    expect(visits).toBe(0)
    expect(project.read('app/out.txt').trim()).toMatch(/^E[A-Z]+$/)
  })

  it('touches neither the temporary files of a check that runs beside it nor what lies above the project', { timeout }, async () => {
    const planted = `/tmp/assay-planted-${process.pid}`
    onTestFinished(() => rmSync(planted, { recursive: true, force: true }))
    const attack = `mkdir -p ${planted}; echo tried > tried.txt
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do for file in /tmp/*/expect; do [ -e "$file" ] && echo bad > "$file"; done; sleep 0.2; done`
    const project = oneTask({
      worker: `case "$ASSAY_TASK" in *victim) echo good > out.txt ;; *) ${attack} ;; esac`,
      review: { maxAttempts: 1 },
    })
    const check = 'echo good > "$TMPDIR/expect"; sleep 1; cmp out.txt "$TMPDIR/expect"'
    const task = { assignTo: 'dev', description: 'Do it.' }
    project.write({
      'm.yaml': {
        name: 'M',
        tasks: [
          { ...task, title: 'attacker', priority: 2, workspace: { folder: 'app' } },
          { ...task, title: 'victim', checks: [{ kind: 'command', argv: ['sh', '-c', check] }] },
        ],
      },
    })
    // The folder that checks take theirs from is everybody's.
    const { code, stderr } = await project.run(['run', 'm.yaml'], { env: { ASSAY_SANDBOX_WRITABLE: '', TMPDIR: '/tmp' } })
    expect(stderr).not.toContain('cmp:')
    expect(code).toBe(0)
    expect(project.has('app/tried.txt'), 'the attack took place').toBe(true)
    expect(existsSync(planted)).toBe(false)
  })

  it('that leaves a repository in a shared folder is refused, and the repository is gone when the task is held', { timeout }, async () => {
    const project = oneTask({
      worker: 'mkdir -p sub/.git; echo "[core] fsmonitor = x" > sub/.git/config; mkdir -p hollow/deep; echo done > out.txt; echo said',
      review: { maxAttempts: 1 },
      task: { workspace: { folder: 'app' } },
    })
    project.write({ 'app/a.txt': 'a' })
    expect((await project.run(['run', 'm.yaml'])).code).not.toBe(0)
    const failed = (await project.events()).find(({ type }) => type === 'attempt.failed')
    expect(JSON.stringify(failed?.data)).toContain('sub/.git')
    expect(project.logged('sittings'), 'no judge was asked').toEqual([])
    expect(['app/sub', 'app/hollow', 'app/out.txt'].filter((path) => project.has(path))).toEqual([])
  })

  it.each([
    ['a pipe', 'mkfifo pipe'],
    ['a link', 'ln -s /etc/passwd link'],
  ])('that hands in nothing but %s has changed nothing', { timeout }, async (_what, worker) => {
    const project = oneTask({ worker, review: { maxAttempts: 1 } })
    expect((await project.run(['run', 'm.yaml'])).code).not.toBe(0)
    expect(project.logged('sittings')).toEqual([])
    expect(JSON.stringify(await project.events())).toContain('acceptance_gap')
  })
})
