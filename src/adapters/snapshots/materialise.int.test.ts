import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsOf, planted, taken, tempFolder } from '../../testing/snapshot-suite/trees.ts'
import { copiesFolder, materialise, removeStaleCopies } from './materialise.ts'
import { openMemorySnapshotStore } from './store.ts'

async function copied(options?: { readOnly?: boolean }) {
  const store = openMemorySnapshotStore()
  const origin = planted({ 'src/a.txt': 'reviewed', run: ['#!'] })
  const { digest } = await taken(store, origin)
  const parent = join(tempFolder(), 'tmp')
  const copy = await materialise(store, digest, parent, options)
  if (!copy.ok) throw new Error(copy.problem.message)
  return { store, digest, origin, parent, ...copy }
}

describe('a private copy', () => {
  it('holds the snapshot; writing into it touches neither the store nor another copy', async () => {
    const { store, digest, origin, parent, folder, dispose } = await copied()
    expect(contentsOf(folder)).toEqual(contentsOf(origin))
    writeFileSync(join(folder, 'src/a.txt'), 'scribbled')
    const other = await materialise(store, digest, parent)
    expect(other.ok && readFileSync(join(other.folder, 'src/a.txt'), 'utf8')).toBe('reviewed')
    await dispose()
    if (other.ok) await other.dispose()
    expect(readdirSync(parent)).toEqual([])
  })

  it('is gone after dispose, whatever was done in it, and nothing outside is touched', async () => {
    const { parent, folder, dispose } = await copied({ readOnly: true })
    const outside = planted({ precious: 'kept' })
    mkdirSync(join(folder, 'locked/in'), { recursive: true })
    writeFileSync(join(folder, 'locked/in/x'), 'x')
    symlinkSync(outside, join(folder, 'src/link'))
    symlinkSync(join(outside, 'precious'), join(folder, 'locked/link'))
    for (const path of ['locked/in', 'locked', 'src', '']) chmodSync(join(folder, path), 0o000)
    await dispose()
    expect(existsSync(folder)).toBe(false)
    expect(readdirSync(parent)).toEqual([])
    expect(Object.keys(contentsOf(outside))).toEqual(['precious'])
    await dispose()
  })

  it('that was swapped for a link is removed without following it', async () => {
    const { folder, dispose } = await copied()
    const outside = planted({ precious: 'kept' })
    rmSync(folder, { recursive: true })
    symlinkSync(outside, folder)
    await dispose()
    expect(existsSync(folder)).toBe(false)
    expect(Object.keys(contentsOf(outside))).toEqual(['precious'])
  })

  it('of an unknown snapshot is a problem and leaves nothing behind', async () => {
    const parent = tempFolder()
    const copy = await materialise(openMemorySnapshotStore(), `sha256:${'0'.repeat(64)}`, parent)
    expect(copy).toMatchObject({ ok: false, problem: { code: 'not_found' } })
    expect(readdirSync(parent)).toEqual([])
  })

  it('of a process that was killed is swept when it is old', async () => {
    const { parent, folder } = await copied()
    mkdirSync(join(parent, 'not-a-copy'))
    utimesSync(join(parent, 'not-a-copy'), 1, 1)
    expect(await removeStaleCopies(parent, 60_000)).toBe(0)
    utimesSync(folder, 1, 1)
    expect(await removeStaleCopies(parent, 60_000)).toBe(1)
    expect(readdirSync(parent)).toEqual(['not-a-copy'])
    expect(await removeStaleCopies(join(parent, 'missing'), 0)).toBe(0)
  })

  it('has what is installed for its origin, whose files stay when it goes', async () => {
    const store = openMemorySnapshotStore()
    const above = planted({
      'node_modules/top/x': 'top',
      'site/a.txt': 'a',
      'site/apps/web/package.json': '{}',
      'site/apps/web/node_modules/own/x': 'own',
    })
    const { digest } = await taken(store, planted({ 'a.txt': 'a', 'apps/web/package.json': '{}' }))
    const copy = await materialise(store, digest, tempFolder(), { packages: { folder: join(above, 'site'), itself: true } })
    if (!copy.ok) throw new Error(copy.problem.message)
    expect(readFileSync(join(copy.folder, 'node_modules/top/x'), 'utf8')).toBe('top')
    expect(readFileSync(join(copy.folder, 'apps/web/node_modules/own/x'), 'utf8')).toBe('own')
    await copy.dispose()
    expect(existsSync(copy.folder)).toBe(false)
    expect(existsSync(join(above, 'node_modules/top/x')) && existsSync(join(above, 'site/apps/web/node_modules/own/x'))).toBe(true)
  })

  it('has links of its own to packages, however often they were made before, and trusts none that leads elsewhere', async () => {
    const store = openMemorySnapshotStore()
    const origin = planted({ 'package.json': '{}', 'app.js': '', 'own/index.js': 'own' })
    const { digest } = await taken(store, origin)
    const installed = {
      'node_modules/tool/index.js': 'tool',
      'node_modules/@scope/one/index.js': 'one',
      'node_modules/@mixed/two/index.js': 'two',
    }
    for (const [path, text] of Object.entries(installed)) {
      mkdirSync(join(origin, path, '..'), { recursive: true })
      writeFileSync(join(origin, path), text)
    }
    symlinkSync('../../own', join(origin, 'node_modules/@mixed/own'))
    // A program as pnpm installs it: a file, that looks for its package beside itself.
    symlinkSync('../own', join(origin, 'node_modules/mine'))
    mkdirSync(join(origin, 'node_modules/.bin'))
    writeFileSync(join(origin, 'node_modules/.bin/mine'), 'cat "$(dirname "$0")/../mine/index.js"')
    mkdirSync(join(origin, 'node_modules/.cache/x'), { recursive: true })
    symlinkSync('.cache/x', join(origin, 'node_modules/.vite'))
    writeFileSync(join(origin, 'node_modules/.modules.yaml'), 'module.exports = 5')
    const parent = join(tempFolder(), 'tmp')
    const copyIt = async (without: string[] = []) => {
      const copy = await materialise(store, digest, parent, { packages: { folder: origin, itself: true, without } })
      if (!copy.ok) throw new Error(copy.problem.message)
      const read = (path: string) => readFileSync(join(copy.folder, 'node_modules', path, 'index.js'), 'utf8')
      return { ...copy, read, has: (path: string) => existsSync(join(copy.folder, 'node_modules', path)) }
    }
    const one = await copyIt()
    writeFileSync(join(one.folder, 'own/index.js'), 'changed')
    rmSync(join(one.folder, 'node_modules/tool'))
    writeFileSync(join(one.folder, 'node_modules/tool'), 'another')
    const two = await copyIt()
    expect(['tool', '@scope/one', '@mixed/two', '@mixed/own'].map(two.read)).toEqual(['tool', 'one', 'two', 'own'])
    expect(one.read('@mixed/own')).toBe('changed')
    writeFileSync(join(origin, 'own/index.js'), 'live')
    expect(execFileSync('sh', ['node_modules/.bin/mine'], { cwd: two.folder, encoding: 'utf8' })).toBe('own')
    expect(['.cache', '.cache/x', '.vite', '.modules.yaml'].map(two.has)).toEqual([true, false, false, false])
    const three = await copyIt(['node_modules/@scope/one'])
    expect([three.has('@scope'), three.has('@scope/one'), three.has('@mixed/two')]).toEqual([true, false, true])

    const first = join(parent, 'copy-links')
    for (const plant of [(path: string) => symlinkSync(tempFolder(), path), (path: string) => writeFileSync(path, '')]) {
      for (const name of readdirSync(first)) {
        rmSync(join(first, name))
        plant(join(first, name))
      }
      expect((await copyIt()).read('tool')).toBe('tool')
    }
  })

  it('is made outside of the project, where nobody else looks', () => {
    for (const project of [tempFolder(), '/tmp']) {
      const folder = copiesFolder(project)
      expect(realpathSync(folder).startsWith(`${realpathSync(project)}/`)).toBe(false)
      expect(statSync(folder).mode & 0o777).toBe(0o700)
    }
  })
})
