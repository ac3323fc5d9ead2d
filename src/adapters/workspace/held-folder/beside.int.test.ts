import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planted } from '../../../testing/snapshot-suite/trees.ts'
import { openSnapshotStore } from '../../snapshots/store.ts'
import { sampleTask } from '../fixtures/task.ts'
import { openWorkspaces } from '../workspaces.ts'

const task = sampleTask({ id: 'one', workspace: { kind: 'folder', path: 'site' } })

/** A repository with a hook, a module that has a `.git` of its own, and an empty folder of the user's. */
async function repository() {
  const projectRoot = planted({ 'site/a.txt': 'a', 'site/lib/b.txt': 'b' })
  const site = join(projectRoot, 'site')
  const at = (path: string) => join(site, path)
  execFileSync('git', ['init', '--quiet', site])
  const put = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
  }
  put('.git/hooks/pre-commit', '#!/bin/sh\nexit 0\n')
  chmodSync(at('.git/hooks/pre-commit'), 0o755)
  put('lib/.git', 'gitdir: ../.git/modules/lib\n')
  put('.git/modules/lib/config', '[core]\n')
  mkdirSync(at('uploads/now'), { recursive: true })
  const snapshots = openSnapshotStore({ folder: join(projectRoot, '.assay/objects') })
  const workspaces = openWorkspaces({ folder: join(projectRoot, '.assay/work'), projectRoot, snapshots })
  await workspaces.open(task, [])
  return { projectRoot, at, put, workspaces }
}

describe('version control in a shared folder', () => {
  it('may be used: history, index and branches are no meddling', async () => {
    const { at, workspaces } = await repository()
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'core.hooksPath=/dev/null', '-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: at('.') })
    git('add', 'a.txt')
    git('commit', '--quiet', '-m', 'x')
    git('branch', 'other')
    expect(await workspaces.tampered(task)).toEqual([])
    await workspaces.settle(task, 'put_back')
    expect(git('log', '--format=%s', 'other').toString()).toBe('x\n')
  })

  it('is found where it appeared, vanished or decides otherwise, and is put back with the work', async () => {
    const { projectRoot, at, put, workspaces } = await repository()
    const config = readFileSync(at('.git/config'), 'utf8')
    put('.git/config', `${config}[core]\n\tfsmonitor = touch /tmp/planted\n`)
    put('.git/hooks/post-checkout', '#!/bin/sh\n')
    chmodSync(at('.git/hooks/pre-commit'), 0o644)
    put('.git/modules/lib/hooks/post-merge', '#!/bin/sh\n')
    put('lib/.git', 'gitdir: /tmp/elsewhere\n')
    put('deep/sub/.git/config', '[core]\n')
    expect(await workspaces.tampered(task)).toEqual([
      '.git/config',
      '.git/hooks/post-checkout',
      '.git/hooks/pre-commit',
      '.git/modules/lib/hooks/post-merge',
      'deep/sub/.git',
      'lib/.git',
    ])
    await workspaces.settle(task, 'put_back')
    expect(readFileSync(at('.git/config'), 'utf8')).toBe(config)
    expect(existsSync(at('.git/hooks/post-checkout'))).toBe(false)
    expect(statSync(at('.git/hooks/pre-commit')).mode & 0o777).toBe(0o755)
    expect(existsSync(at('.git/modules/lib/hooks/post-merge'))).toBe(false)
    expect(readFileSync(at('lib/.git'), 'utf8')).toBe('gitdir: ../.git/modules/lib\n')
    expect(existsSync(at('deep'))).toBe(false)
    expect(existsSync(join(projectRoot, '.assay/work/one.removed/deep/sub/.git/config')), 'nothing is lost').toBe(true)
  })

  it('is not written through a link that was put in its way', async () => {
    const { projectRoot, at, workspaces } = await repository()
    const away = join(projectRoot, 'away')
    mkdirSync(away)
    rmSync(at('.git/hooks'), { recursive: true })
    symlinkSync(away, at('.git/hooks'))
    rmSync(at('.git/modules'), { recursive: true })
    symlinkSync(away, at('.git/modules'))
    expect(await workspaces.tampered(task)).toContain('.git/hooks')
    await workspaces.settle(task, 'put_back')
    expect(readdirSync(away)).toEqual([])
    expect(statSync(at('.git/hooks/pre-commit')).mode & 0o777).toBe(0o755)
    expect(readFileSync(at('.git/modules/lib/config'), 'utf8')).toBe('[core]\n')
  })
})

describe('folders without files', () => {
  it('that work made which was not accepted are removed; the user’s stay', async () => {
    const { at, put, workspaces } = await repository()
    mkdirSync(at('made/by/me'), { recursive: true })
    mkdirSync(at('uploads/then'))
    put('half/way/file.txt', 'x')
    await workspaces.settle(task, 'put_back')
    expect([at('made'), at('uploads/then'), at('half')].filter((path) => existsSync(path))).toEqual([])
    expect(existsSync(at('uploads/now'))).toBe(true)
  })

  it('stay where the work was accepted', async () => {
    const { at, workspaces } = await repository()
    mkdirSync(at('made'))
    await workspaces.settle(task, 'keep')
    expect(existsSync(at('made'))).toBe(true)
  })
})
