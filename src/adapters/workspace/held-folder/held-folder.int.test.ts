import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsOf, expectedContents, planted, type Tree, taken } from '../../../testing/snapshot-suite/trees.ts'
import { openSnapshotStore } from '../../snapshots/store.ts'
import { sampleTask } from '../fixtures/task.ts'
import { openWorkspaces } from '../workspaces.ts'

const before: Tree = { 'a.txt': 'a', 'test/a.test': 'strict', 'deep/er/b.txt': 'b', 'run.sh': ['#!'] }

function shared(tree: Tree = before) {
  const projectRoot = planted(Object.fromEntries(Object.entries(tree).map(([path, content]) => [`site/${path}`, content])))
  const site = join(projectRoot, 'site')
  const snapshots = openSnapshotStore({ folder: join(projectRoot, '.assay/objects') })
  /** As another process would open it. */
  const reopen = () => openWorkspaces({ folder: join(projectRoot, '.assay/work'), projectRoot, snapshots })
  const task = (id: string) => sampleTask({ id, workspace: { kind: 'folder', path: 'site' } })
  return { site, at: (path: string) => join(site, path), snapshots, workspaces: reopen(), reopen, task }
}

/** Edits, adds, deletes, and puts things in the place of others. */
function meddle(at: (path: string) => string): void {
  writeFileSync(at('a.txt'), 'edited')
  writeFileSync(at('new.txt'), 'added')
  mkdirSync(at('made/by/me'), { recursive: true })
  writeFileSync(at('made/by/me/x'), 'x')
  unlinkSync(at('run.sh'))
  rmSync(at('test'), { recursive: true })
  symlinkSync('/etc', at('test'))
  unlinkSync(at('deep/er/b.txt'))
  mkdirSync(at('deep/er/b.txt'))
  writeFileSync(at('deep/er/b.txt/inside'), 'y')
}

describe('the shared folder of a task that was not accepted', () => {
  it('is as the task found it, whatever it did to its files', async () => {
    const { site, at, workspaces, task } = shared()
    await workspaces.open(task('one'), [])
    meddle(at)
    expect(contentsOf(site).test, 'the attack took place').toBe('link')
    await workspaces.settle(task('one'), 'put_back')
    expect(contentsOf(site)).toEqual(expectedContents(before))
    expect(workspaces.isAside(task('one'))).toBe(true)
  })

  it('keeps what the user changed elsewhere since the work was handed in', async () => {
    const { at, snapshots, workspaces, task, site } = shared()
    await workspaces.open(task('one'), [])
    writeFileSync(at('a.txt'), 'edited')
    const { digest } = await taken(snapshots, site)
    writeFileSync(at('mine.txt'), 'by the user')
    writeFileSync(at('deep/er/b.txt'), 'also by the user')
    await workspaces.settle(task('one'), 'put_back', digest)
    expect(contentsOf(site)).toEqual(expectedContents({ ...before, 'mine.txt': 'by the user', 'deep/er/b.txt': 'also by the user' }))
  })

  it('has its work again when the task goes on, on top of what others did, and measures its change against that', async () => {
    const { at, snapshots, workspaces, reopen, task, site } = shared()
    await workspaces.open(task('one'), [])
    writeFileSync(at('a.txt'), 'edited')
    writeFileSync(at('new.txt'), 'added')
    await workspaces.settle(task('one'), 'put_back')
    await workspaces.open(task('two'), [])
    writeFileSync(at('two.txt'), 'of two')
    await workspaces.settle(task('two'), 'keep')
    const again = await reopen().open(task('one'), [])
    expect(contentsOf(site)).toEqual(expectedContents({ ...before, 'a.txt': 'edited', 'new.txt': 'added', 'two.txt': 'of two' }))
    const base = await snapshots.manifest(again.base)
    expect(base?.files.map(({ path }) => path)).toContain('two.txt')
    expect(base?.files.map(({ path }) => path)).not.toContain('new.txt')
    await workspaces.settle(task('one'), 'put_back')
    expect(contentsOf(site)).toEqual(expectedContents({ ...before, 'two.txt': 'of two' }))
  })

  it('gets its work when it is accepted after all', async () => {
    const { at, workspaces, reopen, task, site } = shared()
    await workspaces.open(task('one'), [])
    meddle(at)
    rmSync(at('test'))
    await workspaces.settle(task('one'), 'put_back')
    expect(contentsOf(site)).toEqual(expectedContents(before))
    writeFileSync(at('mine.txt'), 'by the user')
    await reopen().settle(task('one'), 'keep')
    expect(contentsOf(site)).toEqual(
      expectedContents({
        'a.txt': 'edited',
        'new.txt': 'added',
        'made/by/me/x': 'x',
        'deep/er/b.txt/inside': 'y',
        'mine.txt': 'by the user',
      }),
    )
    expect(workspaces.isAside(task('one'))).toBe(false)
  })

  it('is put back as often as it takes: doing it again changes nothing', async () => {
    const { site, at, reopen, workspaces, task } = shared()
    await workspaces.open(task('one'), [])
    meddle(at)
    await workspaces.settle(task('one'), 'put_back')
    // As if it had been cut off in the middle.
    writeFileSync(at('a.txt'), 'edited')
    await reopen().settle(task('one'), 'put_back')
    expect(contentsOf(site)).toEqual(expectedContents(before))
  })

  it('of which a finished task is opened again keeps the work of others when that fails', async () => {
    const { site, at, workspaces, task } = shared()
    await workspaces.open(task('one'), [])
    writeFileSync(at('one.txt'), '1')
    await workspaces.settle(task('one'), 'keep')
    await workspaces.open(task('two'), [])
    writeFileSync(at('two.txt'), '2')
    await workspaces.settle(task('two'), 'keep')
    await workspaces.open(task('one'), [])
    writeFileSync(at('one.txt'), 'worse')
    await workspaces.settle(task('one'), 'put_back')
    expect(contentsOf(site)).toEqual(expectedContents({ ...before, 'one.txt': '1', 'two.txt': '2' }))
  })
})

describe('the shared folder of a task that was accepted', () => {
  it('is what was accepted, whatever became of it since; what lay there is kept', async () => {
    const { at, snapshots, workspaces, task, site } = shared()
    await workspaces.open(task('one'), [])
    writeFileSync(at('a.txt'), 'edited')
    writeFileSync(at('new.txt'), 'added')
    const { digest } = await taken(snapshots, site)
    writeFileSync(at('a.txt'), 'swapped')
    writeFileSync(at('late.txt'), 'late')
    unlinkSync(at('new.txt'))
    const { changed } = await workspaces.settle(task('one'), 'keep', digest)
    expect(changed).toMatchObject({ corrected: ['a.txt', 'new.txt'], others: ['late.txt'] })
    const work = { ...before, 'a.txt': 'edited', 'new.txt': 'added' }
    expect(contentsOf(site)).toEqual(expectedContents({ ...work, 'late.txt': 'late' }))
    expect(contentsOf(changed?.kept ?? '')).toEqual(expectedContents({ 'a.txt': 'swapped' }))
    await workspaces.open(task('two'), [])
    expect(await workspaces.settle(task('two'), 'keep', (await taken(snapshots, site)).digest)).toEqual({})
  })

  it('that cannot be written says so, and is tried again', async () => {
    const { at, snapshots, reopen, task, site } = shared()
    await reopen().open(task('one'), [])
    writeFileSync(at('a.txt'), 'edited')
    const { restore } = snapshots
    snapshots.restore = async () => ({ ok: false, problem: { code: 'io', message: 'EPERM: operation not permitted' } })
    expect(await reopen().settle(task('one'), 'put_back')).toEqual({ stuck: 'EPERM: operation not permitted' })
    snapshots.restore = restore
    expect(await reopen().settle(task('one'), 'put_back')).toEqual({})
    expect(contentsOf(site)).toEqual(expectedContents(before))
  })
})

describe('installed packages of a shared folder', () => {
  const installed: Tree = {
    'package.json': '{}',
    'node_modules/pad/index.js': 'true',
    'node_modules/@me/core/index.js': 'true',
    'node_modules/.cache/x': '1',
    'apps/web/node_modules/dep/index.js': '1',
  }

  it('are not meddled with by reading, by caches, or by work on linked sources', async () => {
    const { at, workspaces, task } = shared(installed)
    mkdirSync(at('packages/own'), { recursive: true })
    symlinkSync('../packages/own', at('node_modules/own'))
    await workspaces.open(task('one'), [])
    readFileSync(at('node_modules/pad/index.js'))
    writeFileSync(at('node_modules/.cache/y'), '2')
    writeFileSync(at('packages/own/index.js'), 'work')
    expect(await workspaces.meddled(task('one'))).toEqual({ changed: [], replaced: [], added: [], removed: [] })
  })

  it('are named when a file was edited, even with its size and time as before', async () => {
    const { at, workspaces, task } = shared(installed)
    utimesSync(at('node_modules/pad/index.js'), 1, 1)
    await workspaces.open(task('one'), [])
    writeFileSync(at('node_modules/pad/index.js'), 'fals')
    utimesSync(at('node_modules/pad/index.js'), 1, 1)
    writeFileSync(at('apps/web/node_modules/dep/more.js'), '1')
    rmSync(at('node_modules/@me/core'), { recursive: true })
    mkdirSync(at('node_modules/.bin'))
    for (const name of ['node', 'tool']) writeFileSync(at(`node_modules/.bin/${name}`), '')
    expect(await workspaces.meddled(task('one'))).toEqual({
      changed: ['apps/web/node_modules/dep', 'node_modules/pad'],
      replaced: ['node_modules/.bin/node'],
      added: ['node_modules/.bin/tool'],
      removed: ['node_modules/@me/core'],
    })
  })

  it('stay suspect for the next task after work that was not accepted, until somebody installs them again', async () => {
    const { at, workspaces, reopen, task } = shared(installed)
    await workspaces.open(task('one'), [])
    appendFileSync(at('node_modules/pad/index.js'), ' // planted')
    await workspaces.settle(task('one'), 'put_back')
    await reopen().open(task('two'), [])
    expect(await workspaces.meddled(task('two'))).toEqual({ changed: ['node_modules/pad'], replaced: [], added: [], removed: [] })
    await workspaces.settle(task('two'), 'put_back')
    rmSync(at('node_modules/pad'), { recursive: true })
    mkdirSync(at('node_modules/pad'))
    writeFileSync(at('node_modules/pad/index.js'), 'true')
    await workspaces.open(task('three'), [])
    expect(await workspaces.meddled(task('three'))).toEqual({ changed: [], replaced: [], added: [], removed: [] })
  })

  const none = { changed: [], replaced: [], added: [], removed: [] }
  const install = (place: string, text: string) => {
    rmSync(place, { recursive: true, force: true })
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'index.js'), text)
  }

  it('are what they were where the same is installed again', async () => {
    const { at, workspaces, task } = shared(installed)
    await workspaces.open(task('one'), [])
    appendFileSync(at('node_modules/pad/index.js'), ' // planted')
    install(at('node_modules/@me/core'), 'true')
    expect(await workspaces.meddled(task('one'))).toEqual({ ...none, changed: ['node_modules/pad'] })
    install(at('node_modules/pad'), 'true')
    expect(await workspaces.meddled(task('one'))).toEqual(none)
  })

  it.each([
    ['nearer', 'apps/web/node_modules/pad', {}],
    ['nearer than one above the folder', 'node_modules/hoisted', { '../node_modules/hoisted/index.js': '1' }],
    ['as a file that is found first', 'node_modules/pad.js', {}],
    ['in a scope', 'apps/web/node_modules/@me/core', {}],
  ])('are replaced by a new one of their name %s', async (_where, path, more) => {
    const { at, workspaces, task, site } = shared(installed)
    for (const [place, text] of Object.entries(more)) {
      mkdirSync(join(site, place, '..'), { recursive: true })
      writeFileSync(join(site, place), text)
    }
    await workspaces.open(task('one'), [])
    if (path.endsWith('.js')) writeFileSync(at(path), '1')
    else install(at(path), '1')
    install(at('node_modules/new.js'), '1')
    expect(await workspaces.meddled(task('one'))).toEqual({ ...none, replaced: [path], added: ['node_modules/new.js'] })
  })

  it('are replaced by one elsewhere where the one that was found is gone', async () => {
    const { at, workspaces, task } = shared(installed)
    await workspaces.open(task('one'), [])
    rmSync(at('apps/web/node_modules/dep'), { recursive: true })
    install(at('node_modules/dep'), '2')
    expect(await workspaces.meddled(task('one'))).toEqual({
      ...none,
      replaced: ['node_modules/dep'],
      removed: ['apps/web/node_modules/dep'],
    })
  })

  it('stay suspect after work that was accepted, and while a task is held', async () => {
    const { at, workspaces, reopen, task } = shared(installed)
    await workspaces.open(task('one'), [])
    appendFileSync(at('node_modules/pad/index.js'), ' // planted')
    await workspaces.settle(task('one'), 'put_back')
    expect(await reopen().meddled(task('one')), 'a hold forgets nothing').toEqual({ ...none, changed: ['node_modules/pad'] })
    await reopen().settle(task('one'), 'keep')
    for (const id of ['two', 'three']) {
      await reopen().open(task(id), [])
      expect(await workspaces.meddled(task(id)), id).toEqual({ ...none, changed: ['node_modules/pad'] })
      appendFileSync(at('node_modules/pad/index.js'), ' // touched')
      expect(await workspaces.meddled(task(id)), id).toEqual({ ...none, changed: ['node_modules/pad'] })
      await workspaces.settle(task(id), 'keep')
    }
    await workspaces.open(task('four'), [])
    install(at('node_modules/pad'), 'true')
    expect(await workspaces.meddled(task('four')), 'the worker installed the same again').toEqual(none)
  })
})
