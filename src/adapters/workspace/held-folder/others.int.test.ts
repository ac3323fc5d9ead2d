import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TaskSpec } from '../../../contract/task.ts'
import { planted } from '../../../testing/snapshot-suite/trees.ts'
import { openSnapshotStore } from '../../snapshots/store.ts'
import { sampleTask } from '../fixtures/task.ts'
import { openWorkspaces } from '../workspaces.ts'

const none = { changed: [], replaced: [], added: [], removed: [] }

function project() {
  const root = planted({
    'node_modules/pad/index.js': '1',
    'site/node_modules/own/index.js': '1',
    'site/deep/a.txt': 'a',
    'other/a.txt': 'a',
  })
  const snapshots = openSnapshotStore({ folder: join(root, '.assay/objects') })
  const workspaces = openWorkspaces({ folder: join(root, '.assay/work'), projectRoot: root, snapshots })
  const inFolder = (id: string, path: string) => sampleTask({ id, workspace: { kind: 'folder', path } })
  return { workspaces, inFolder, at: (path: string) => join(root, path) }
}

const scratch = sampleTask({ id: 'scratch', workspace: { kind: 'scratch' } })
const worktree = sampleTask({ id: 'worktree', workspace: { kind: 'worktree' } })

describe('packages that others have changed', () => {
  it.each([scratch, worktree])(
    'are seen for a task that has a folder to itself, now and after they gave the folder back ($id)',
    async (task) => {
      const { workspaces, inFolder, at } = project()
      const holder = inFolder('holder', '.')
      await workspaces.open(holder, [])
      expect(await workspaces.meddledByOthers(task, [holder], [])).toEqual(none)
      writeFileSync(at('node_modules/pad/index.js'), '2')
      writeFileSync(at('node_modules/new.js'), '1')
      expect(await workspaces.meddledByOthers(task, [holder], [])).toEqual({
        ...none,
        changed: ['node_modules/pad'],
        added: ['node_modules/new.js'],
      })
      await workspaces.settle(holder, 'put_back')
      expect(await workspaces.meddledByOthers(task, [], [])).toEqual({ ...none, changed: ['node_modules/new.js', 'node_modules/pad'] })
      writeFileSync(at('node_modules/pad/index.js'), '1')
      rmSync(at('node_modules/new.js'))
      expect(await workspaces.meddledByOthers(task, [], []), 'made what they were').toEqual(none)
    },
  )

  it('are seen from a folder below, by their way from there, and from the one around', async () => {
    const { workspaces, inFolder, at } = project()
    const [outer, inner] = [inFolder('outer', '.'), inFolder('inner', 'site/deep')]
    await workspaces.open(outer, [])
    writeFileSync(at('node_modules/pad/index.js'), '2')
    await workspaces.settle(outer, 'put_back')
    expect(await workspaces.meddledByOthers(inner, [], [])).toEqual({ ...none, changed: ['../../node_modules/pad'] })
    const site = inFolder('site', 'site')
    await workspaces.open(site, [])
    writeFileSync(at('site/node_modules/own/index.js'), '2')
    await workspaces.settle(site, 'put_back')
    const again = inFolder('again', '.')
    await workspaces.open(again, [])
    expect(await workspaces.meddledByOthers(again, [], [])).toEqual({ ...none, changed: ['site/node_modules/own'] })
    expect((await workspaces.meddled(again)).changed, 'its own look names the others').toEqual(['node_modules/pad'])
  })

  it.each([
    ['a folder beside', (inFolder: (id: string, path: string) => TaskSpec) => inFolder('beside', 'other'), [], []],
    ['a folder to itself', () => scratch, [], []],
    ['a repository of its own, which has that folder', () => worktree, [], ['site/node_modules/own']],
    ['a program that is run there', () => scratch, ['site/deep/check.mjs'], ['site/node_modules/own']],
  ])('inside a folder concern only who loads from there: %s', async (_who, who, places, changed) => {
    const { workspaces, inFolder, at } = project()
    const site = inFolder('site', 'site')
    await workspaces.open(site, [])
    writeFileSync(at('site/node_modules/own/index.js'), '2')
    expect(await workspaces.meddledByOthers(who(inFolder), [site], places.map(at))).toEqual({ ...none, changed })
  })
})

describe('the folder before the work that is in it', () => {
  it('is known while the task has it, and as long as its work may be on its way out of it', async () => {
    const { workspaces, inFolder, at } = project()
    const task = inFolder('task', 'other')
    expect(workspaces.found(task)).toBeUndefined()
    const { base } = await workspaces.open(task, [])
    writeFileSync(at('other/a.txt'), 'edited')
    expect(workspaces.found(task)).toBe(base)
    await workspaces.settle(task, 'put_back')
    expect(workspaces.found(task)).toBe(base)
    await workspaces.open(task, [])
    await workspaces.settle(task, 'keep')
    expect(workspaces.found(task)).toBeUndefined()
    expect(workspaces.found(scratch)).toBeUndefined()
    expect(await workspaces.standing(scratch)).toEqual({})
  })
})
