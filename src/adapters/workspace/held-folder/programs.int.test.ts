import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { planted } from '../../../testing/snapshot-suite/trees.ts'
import { openSnapshotStore } from '../../snapshots/store.ts'
import { sampleTask } from '../fixtures/task.ts'
import { openWorkspaces } from '../workspaces.ts'

const none = { changed: [], replaced: [], added: [], removed: [] }
const usual = '/usr/bin:/bin'

function lead(path: string): void {
  const before = process.env.PATH
  process.env.PATH = path
  onTestFinished(() => {
    process.env.PATH = before
  })
}

/** A folder whose `tools` are in PATH: a program, a link to one of the system and one to the work, and a file that nobody runs. */
async function project(path: (root: string) => string = (root) => `${root}/env/tools:${usual}`) {
  const root = planted({ 'env/tools/own': '#!/bin/sh\n', 'env/tools/notes.txt': 'a', 'src/linked': '#!/bin/sh\n', 'a.txt': 'a' })
  const at = (place: string) => join(root, place)
  for (const program of ['env/tools/own', 'src/linked']) chmodSync(at(program), 0o755)
  symlinkSync('/bin/sh', at('env/tools/system'))
  symlinkSync('../../src/linked', at('env/tools/linked'))
  lead(path(root))
  const snapshots = openSnapshotStore({ folder: at('.assay/objects') })
  const workspaces = openWorkspaces({ folder: at('.assay/work'), projectRoot: root, snapshots })
  const task = sampleTask({ id: 'one', workspace: { kind: 'folder', path: '.' } })
  await workspaces.open(task, [])
  const write = (place: string, text = '#!/bin/sh\nexit 0\n') => {
    writeFileSync(at(place), text)
    chmodSync(at(place), 0o755)
  }
  return { root, at, write, workspaces, task, meddled: () => workspaces.meddled(task) }
}

describe('programs that PATH finds in a shared folder', () => {
  it('are as they were where only other files changed, or they were written again', async () => {
    const { at, write, meddled } = await project()
    expect(await meddled()).toEqual(none)
    writeFileSync(at('env/tools/notes.txt'), 'b')
    writeFileSync(at('a.txt'), 'b')
    write('env/tools/own', '#!/bin/sh\n')
    rmSync(at('env/tools/system'))
    symlinkSync('/bin/sh', at('env/tools/system'))
    expect(await meddled()).toEqual(none)
  })

  it.each<[string, string, (at: (place: string) => string, write: (place: string) => void) => void]>([
    ['a new one', 'env/tools/new', (_at, write) => write('env/tools/new')],
    ['a changed one', 'env/tools/own', (_at, write) => write('env/tools/own')],
    ['one that is gone', 'env/tools/own', (at) => rmSync(at('env/tools/own'))],
    ['a file that can be run now', 'env/tools/notes.txt', (at) => chmodSync(at('env/tools/notes.txt'), 0o755)],
    ['one that a link leads to', 'env/tools/linked', (_at, write) => write('src/linked')],
    ['a new link', 'env/tools/other', (at) => symlinkSync('/bin/true', at('env/tools/other'))],
  ])('are named where they are not: %s', async (_which, named, does) => {
    const { at, write, meddled } = await project()
    does(at, write)
    expect(await meddled()).toEqual({ ...none, programs: [named] })
  })

  it('are named where a folder on the way to them was made another', async () => {
    const { at, meddled } = await project()
    renameSync(at('env'), at('old'))
    mkdirSync(at('other/tools'), { recursive: true })
    symlinkSync('other', at('env'))
    expect(await meddled()).toEqual({ ...none, programs: ['env/tools/linked', 'env/tools/own', 'env/tools/system'] })
  })

  it('are named where PATH leads there through a link from outside that leads elsewhere now', async () => {
    const outside = planted({})
    const { root, at, meddled } = await project(() => `${outside}/way:${usual}`)
    symlinkSync(at('env/tools'), join(outside, 'way'))
    const workspaces = openWorkspaces({
      folder: at('.assay/more'),
      projectRoot: root,
      snapshots: openSnapshotStore({ folder: at('.assay/objects') }),
    })
    const task = sampleTask({ id: 'two', workspace: { kind: 'folder', path: '.' } })
    await workspaces.open(task, [])
    expect(await workspaces.meddled(task)).toEqual(none)
    expect(await meddled(), 'a way that was not there before').toEqual({ ...none, programs: ['env/tools'] })
    rmSync(at('env'), { recursive: true })
    symlinkSync(planted({ 'tools/own': '' }), at('env'))
    expect(await workspaces.meddled(task)).toEqual({ ...none, programs: ['env/tools'] })
  })

  it('count in a folder that was not there, or was not in PATH, when the task took it; not in one that PATH leads to no more', async () => {
    const { root, at, write, meddled } = await project((folder) => `${folder}/late:${folder}/env/tools:${usual}`)
    mkdirSync(at('late'))
    expect(await meddled()).toEqual({ ...none, programs: ['late'] })
    write('late/new')
    expect(await meddled()).toEqual({ ...none, programs: ['late', 'late/new'] })
    process.env.PATH = usual
    expect(await meddled()).toEqual(none)
    process.env.PATH = `${root}/src:${usual}`
    expect(await meddled()).toEqual({ ...none, programs: ['src'] })
  })

  it('are not the task’s to use when its work was put aside and is brought back', async () => {
    const { write, workspaces, task, meddled } = await project()
    write('env/tools/new')
    await workspaces.settle(task, 'put_back')
    expect(await meddled()).toEqual(none)
    await workspaces.open(task, [])
    expect(await meddled()).toEqual({ ...none, programs: ['env/tools/new'] })
  })

  it('that work left behind which was not accepted count for everybody, under whatever PATH others worked meanwhile', async () => {
    const { root, at, write, workspaces, task } = await project()
    // No snapshot has files with several names: what became of one is not put back.
    linkSync(at('env/tools/own'), at('env/second'))
    const scratch = sampleTask({ id: 'scratch', workspace: { kind: 'scratch' } })
    const [held, next, last] = ['held', 'next', 'last'].map((id) => sampleTask({ id, workspace: { kind: 'folder', path: '.' } }))
    if (!held || !next || !last) throw new Error('three tasks')
    await workspaces.settle(task, 'keep')
    await workspaces.open(held, [])
    write('env/tools/own')
    expect(await workspaces.meddledByOthers(scratch, [held], [])).toEqual({ ...none, programs: ['env/tools/own'] })
    await workspaces.settle(held, 'put_back')
    expect(await workspaces.meddledByOthers(scratch, [], [])).toEqual({ ...none, programs: ['env/tools/own'] })
    process.env.PATH = usual
    await workspaces.open(next, [])
    await workspaces.settle(next, 'keep')
    process.env.PATH = `${root}/env/tools:${usual}`
    await workspaces.open(last, [])
    expect(await workspaces.meddled(last)).toEqual({ ...none, programs: ['env/tools/own'] })
    write('env/tools/own', '#!/bin/sh\n')
    expect(await workspaces.meddled(last)).toEqual(none)
    expect(await workspaces.meddledByOthers(scratch, [last], [])).toEqual(none)
  })
})

describe('a look at how such programs stand', () => {
  it('tells that one was taken away and put back', async () => {
    const { at, workspaces } = await project()
    const before = await workspaces.programs([])
    expect(Object.keys(before)).toEqual(['env/tools', 'env/tools/linked', 'env/tools/own', 'env/tools/system'])
    expect(await workspaces.programs([])).toEqual(before)
    // Some kernels note times in steps of several milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 20))
    renameSync(at('env/tools/own'), at('kept'))
    renameSync(at('kept'), at('env/tools/own'))
    expect(await workspaces.programs([])).not.toEqual(before)
  })

  it('finds nothing where no folder of PATH lies there', async () => {
    const { workspaces, task } = await project(() => usual)
    expect(await workspaces.programs([task])).toEqual({})
  })
})
