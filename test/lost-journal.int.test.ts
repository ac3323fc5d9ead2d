import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 300_000
useAssay()

const inOwnNamespace = ['--map-root-user', '--mount', 'sh', '-c']
const canMount = spawnSync('unshare', [...inOwnNamespace, 'mount -t tmpfs -o size=64k tmpfs /mnt']).status === 0
if (!canMount) console.warn('skipped: read-only mounts need `unshare` (package util-linux) and permission for user namespaces')

async function ran(): Promise<Project> {
  const project = oneTask({ worker: 'echo x > work.txt; echo done' })
  expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
  return project
}

const inHome = (project: Project, file: string) => join(project.folder, '.assay', file)

describe('a journal that is not there any more', () => {
  const losses: [string, (project: Project) => void][] = [
    ['deleted', (project) => rmSync(inHome(project, 'assay.db'))],
    ['emptied', (project) => truncateSync(inHome(project, 'assay.db'), 0)],
    [
      'emptied, with the record of it',
      (project) => {
        truncateSync(inHome(project, 'assay.db'), 0)
        rmSync(inHome(project, 'assay.head'))
      },
    ],
  ]

  it.each(losses)('%s: everybody says so, nothing runs again, and reset puts the rest away', { timeout }, async (_what, lose) => {
    const project = await ran()
    for (const rest of ['-wal', '-shm']) rmSync(inHome(project, `assay.db${rest}`), { force: true })
    lose(project)
    const turns = project.logged('turns')
    for (const args of [['run', 'm.yaml'], ['resume'], ['task', 'list']]) {
      const { code, stderr } = await project.run(args)
      expect(code, stderr).toBe(3)
      expect(stderr).toMatch(/The journal .*assay\.db is (gone|empty).*assay reset/)
    }
    const verified = await project.run(['audit', 'verify'])
    expect(verified.code).toBe(1)
    expect(verified.stdout).toMatch(/^audit BROKEN/)
    expect(project.logged('turns')).toEqual(turns)
    expect((await project.asOwner(['reset'])).code).toBe(0)
    expect(existsSync(join(project.folder, '.assay'))).toBe(false)
    expect((await project.run(['run', 'm.yaml'])).code).toBe(0)
  })
})

describe.skipIf(!canMount)('a copy that cannot be written', () => {
  it('can be audited and looked at', { timeout }, async () => {
    const project = await ran()
    const script =
      'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"; if touch "$1/probe" 2>/dev/null; then exit 99; fi; shift; exec "$@"'
    const under = ['unshare', ...inOwnNamespace, script, 'sh', inHome(project, '')]
    for (const args of [['audit', 'verify'], ['audit'], ['task', 'list'], ['inbox'], ['why', 'a']]) {
      const { code, stdout, stderr } = await project.run(args, { under })
      expect(code, `${args.join(' ')}: ${stderr}${stdout}`).toBe(0)
    }
    expect((await project.run(['run', 'm.yaml'], { under })).stderr).toMatch(/cannot be written/)
  })
})

it('a row that was edited into a pass is not shown as one', { timeout }, async () => {
  const project = oneTask({ worker: 'echo x > work.txt; echo done', judge: "echo 'SCORE: 20'", review: { maxAttempts: 1 } })
  await project.run(['run', 'm.yaml'])
  const db = new DatabaseSync(inHome(project, 'assay.db'))
  const { changes } = db.prepare("UPDATE view_rows SET row = replace(row, 'below-threshold', 'clean') WHERE view = 'tasks'").run()
  db.close()
  expect(changes, 'the fault fired').toBe(1)
  for (const args of [
    ['task', 'list'],
    ['task', 'show', 'a'],
    ['why', 'a'],
  ]) {
    const { code, stdout, stderr } = await project.run(args)
    expect(code, stderr).toBe(3)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/row of the task m-1\/a was changed by hand/)
  }
})
