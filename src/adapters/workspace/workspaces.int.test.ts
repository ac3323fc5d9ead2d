import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsOf, expectedContents, plant, planted, type Tree, taken } from '../../testing/snapshot-suite/trees.ts'
import { openSnapshotStore } from '../snapshots/store.ts'
import { WorkspaceFault } from './fault.ts'
import { sampleTask } from './fixtures/task.ts'
import { openWorkspaces } from './workspaces.ts'

function project(tree: Tree = {}) {
  const projectRoot = planted(tree)
  const snapshots = openSnapshotStore({ folder: join(projectRoot, '.assay/objects') })
  /** As another process would open it. */
  const reopen = () => openWorkspaces({ folder: join(projectRoot, '.assay/work'), projectRoot, snapshots })
  const input = async (task: string, files: Tree, more: { title?: string; prefix?: string; output?: string } = {}) => {
    const { digest } = await taken(snapshots, planted(files))
    return { task, title: more.title ?? task, prefix: more.prefix ?? '', content: digest, output: more.output ?? 'said' }
  }
  return { projectRoot, snapshots, reopen, workspaces: reopen(), input }
}

describe('a scratch workspace', () => {
  const task = sampleTask({ id: 'm1/Build it' })

  it('is a private, empty folder whose base is the empty snapshot, also after a restart', async () => {
    const { snapshots, workspaces, reopen } = project()
    const first = await workspaces.open(task, [])
    expect(contentsOf(first.path)).toEqual({})
    expect((await snapshots.manifest(first.base))?.files).toEqual([])
    writeFileSync(join(first.path, 'core.txt'), 'work of the first attempt')
    const second = await reopen().open(task, [])
    expect(second).toEqual(first)
    expect(Object.keys(contentsOf(second.path))).toEqual(['core.txt'])
    const other = await workspaces.open(sampleTask({ id: 'm1-build-it' }), [])
    expect(other.path).not.toBe(first.path)
  })

  it('has what dependencies handed on, read-only, and it is no part of the work', async () => {
    const { snapshots, workspaces, input } = project()
    const core = await input('t1', { 'lib/core.txt': 'hello', 'run.sh': ['#!'] }, { title: 'Core module', output: 'done' })
    const weak = await input('t2', { 'a.txt': 'A' }, { prefix: '[ACCEPTED BELOW QUALITY BAR, score 41]', output: 'meh' })
    const text = { task: 't3', title: 'Only text', prefix: '[ACCEPTED UNREVIEWED]', content: null, output: 'words' }
    const { path, base } = await workspaces.open(task, [core, weak, text])
    expect(contentsOf(join(path, 'inputs'))).toEqual(
      expectedContents({
        'core-module/OUTPUT.txt': 'done',
        'core-module/lib/core.txt': 'hello',
        'core-module/run.sh': ['#!'],
        'only-text/OUTPUT.txt': '[ACCEPTED UNREVIEWED]\nwords',
        't2/OUTPUT.txt': '[ACCEPTED BELOW QUALITY BAR, score 41]\nmeh',
        't2/a.txt': 'A',
      }),
    )
    for (const file of ['core-module/lib/core.txt', 'core-module/run.sh', 't2/OUTPUT.txt']) {
      expect(statSync(join(path, 'inputs', file)).mode & 0o222).toBe(0)
    }
    expect((await taken(snapshots, path, (inner) => workspaces.ignored(inner, task))).digest).toBe(base)
  })

  it('lets no file of an input pass for what the runtime says about it', async () => {
    const { workspaces, input } = project()
    for (const files of [{ 'output.TXT': 'all clean' }, { 'OUTPUT.txt/x': 'all clean' }] as Tree[]) {
      const { path } = await workspaces.open(task, [await input('t1', files, { prefix: '[ACCEPTED UNREVIEWED]' })])
      expect(readFileSync(join(path, 'inputs/t1/OUTPUT.txt'), 'utf8')).toBe('[ACCEPTED UNREVIEWED]\nsaid')
      expect(contentsOf(join(path, 'inputs/t1/files'))).toEqual(expectedContents(files))
    }
  })

  it('gets its inputs anew at every opening, whatever the worker did to them', async () => {
    const { workspaces, input, projectRoot } = project()
    const outside = planted({ 't1/a.txt': 'OUTSIDE' })
    const inputs = [await input('t1', { 'a.txt': 'A' }), await input('t2', { 'b.txt': 'B' })]
    const { path } = await workspaces.open(task, inputs)
    writeFileSync(join(path, 'work'), 'kept')
    const wanted = contentsOf(path)
    const spoil: (() => void)[] = [
      () => rmSync(join(path, 'inputs/t1'), { recursive: true }),
      () => writeFileSync(join(path, 'inputs/t1/extra'), 'x'),
      () => chmodSync(join(path, 'inputs'), 0o000),
      () => {
        rmSync(join(path, 'inputs'), { recursive: true })
        symlinkSync(outside, join(path, 'inputs'))
      },
      () => {
        rmSync(join(path, 'inputs'), { recursive: true })
        writeFileSync(join(path, 'inputs'), 'a file')
      },
      () => {
        rmSync(join(path, 'inputs/t1'), { recursive: true })
        symlinkSync(join(outside, 't1'), join(path, 'inputs/t1'))
      },
      () => mkdirSync(`${path}.staging/half`, { recursive: true }),
    ]
    for (const act of spoil) {
      act()
      await workspaces.open(task, inputs)
      expect(contentsOf(path)).toEqual(wanted)
    }
    expect(contentsOf(outside)).toEqual(expectedContents({ 't1/a.txt': 'OUTSIDE' }))
    await workspaces.open(task, inputs.slice(1))
    expect(readdirSync(join(path, 'inputs'))).toEqual(['t2'])
    expect(readdirSync(join(projectRoot, '.assay/work'))).toHaveLength(1)
  })

  it('that was swapped for a link is made anew, and nothing is written through the link', async () => {
    const { workspaces, input } = project()
    const outside = planted({ precious: 'kept' })
    const { path } = await workspaces.open(task, [])
    rmSync(path, { recursive: true })
    symlinkSync(outside, path)
    const again = await workspaces.open(task, [await input('t1', { a: 'A' })])
    expect(again.path).toBe(path)
    expect(Object.keys(contentsOf(path))).toEqual(['inputs/t1/OUTPUT.txt', 'inputs/t1/a'])
    expect(Object.keys(contentsOf(outside))).toEqual(['precious'])
  })

  it('is put back to a snapshot without losing its inputs', async () => {
    const { snapshots, workspaces, input } = project()
    const { path } = await workspaces.open(task, [await input('t1', { a: 'A' })])
    plant(path, { 'core.txt': 'best' })
    const best = await taken(snapshots, path, (inner) => workspaces.ignored(inner, task))
    plant(path, { 'core.txt': 'worse', 'junk/x': 'x' })
    await workspaces.restore(task, best.digest)
    expect(Object.keys(contentsOf(path))).toEqual(['core.txt', 'inputs/t1/OUTPUT.txt', 'inputs/t1/a'])
    expect(readFileSync(join(path, 'core.txt'), 'utf8')).toBe('best')
    await expect(workspaces.restore(task, `sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('keeps the work and drops the inputs when it is closed, once or twice', async () => {
    const { workspaces, input, reopen } = project()
    await workspaces.close(task)
    const { path } = await workspaces.open(task, [await input('t1', { a: 'A' })])
    writeFileSync(join(path, 'core.txt'), 'x')
    await workspaces.close(task)
    await reopen().close(task)
    expect(Object.keys(contentsOf(path))).toEqual(['core.txt'])
  })
})

describe('a shared folder', () => {
  const task = sampleTask({ workspace: { kind: 'folder', path: 'site' } })

  it('is worked in where it is; its base is what it held at first, also after a restart', async () => {
    const { projectRoot, snapshots, workspaces, reopen, input } = project({ 'site/index.html': 'old', 'site/inputs/data': 'd', other: 'x' })
    const first = await workspaces.open(task, [await input('t1', { a: 'A' })])
    expect(first.path).toBe(join(projectRoot, 'site'))
    expect((await snapshots.manifest(first.base))?.files.map((file) => file.path)).toEqual(['index.html', 'inputs/data'])
    writeFileSync(join(first.path, 'index.html'), 'new')
    expect(await reopen().open(task, [])).toEqual(first)
    const later = await reopen().open(sampleTask({ id: 'next', workspace: task.workspace }), [])
    expect(later.base).not.toBe(first.base)
  })

  it('may be the project itself: version control, packages and our own state stay out of it and survive a restore', async () => {
    const whole = sampleTask({ workspace: { kind: 'folder', path: '.' } })
    const { projectRoot, snapshots, workspaces } = project({ 'a.txt': 'old', '.git/HEAD': 'ref', 'p/node_modules/m/x.js': 'm' })
    const { path, base } = await workspaces.open(whole, [])
    expect((await snapshots.manifest(base))?.files.map((file) => file.path)).toEqual(['a.txt'])
    plant(path, { 'a.txt': 'new', 'p/b.txt': 'new' })
    await workspaces.restore(whole, base)
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('old')
    expect(existsSync(join(path, 'p/b.txt'))).toBe(false)
    expect(existsSync(join(path, 'p/node_modules/m/x.js'))).toBe(true)
    expect(existsSync(join(path, '.git/HEAD'))).toBe(true)
    expect(await snapshots.manifest(base)).toBeDefined()
    await workspaces.close(whole)
    expect(existsSync(projectRoot)).toBe(true)
  })

  it('is made where it is missing, and found again by one key however it is written', async () => {
    const { projectRoot, workspaces } = project({ 'real/x': 'x' })
    symlinkSync(join(projectRoot, 'real'), join(projectRoot, 'link'))
    const at = (path: string) => sampleTask({ workspace: { kind: 'folder', path } })
    const keyOf = (path: string) => workspaces.lineage(at(path))?.key
    const key = keyOf('new/site')
    expect((await workspaces.open(at('new/site'), [])).path).toBe(key)
    expect(existsSync(join(projectRoot, 'new/site'))).toBe(true)
    for (const same of ['./new/site/', 'new/../new/site', join(projectRoot, 'new/site')]) expect(keyOf(same)).toBe(key)
    expect(keyOf('link')).toBe(keyOf('real'))
    expect(keyOf('link/deep/er')).toBe(join(projectRoot, 'real/deep/er'))
    expect(workspaces.lineage(sampleTask())).toBeUndefined()
  })

  it('may not be our own state, and a damaged record is not guessed', async () => {
    const { projectRoot, workspaces } = project()
    const inside = sampleTask({ workspace: { kind: 'folder', path: '.assay/objects' } })
    await expect(workspaces.open(inside, [])).rejects.toMatchObject({ code: 'bad_folder' })
    await workspaces.open(task, [])
    const record = join(projectRoot, '.assay/work', 'build-site.base')
    for (const damage of ['', '{"version":1', readFileSync(record, 'utf8').replace('build-site', 'another'), '{"version":2}']) {
      writeFileSync(record, damage)
      await expect(workspaces.open(task, [])).rejects.toMatchObject({ code: 'bad_record', message: expect.stringContaining(record) })
    }
  })
})

describe('what cannot be had', () => {
  it('is a fault with a code', async () => {
    const { projectRoot, workspaces } = project({ 'a-file': 'x' })
    const worktree = sampleTask({ workspace: { kind: 'worktree' } })
    await expect(workspaces.open(worktree, [])).rejects.toMatchObject({ code: 'no_repository' })
    expect(workspaces.integration(sampleTask())).toBeUndefined()
    const onFile = sampleTask({ workspace: { kind: 'folder', path: 'a-file/below' } })
    await expect(workspaces.open(onFile, [])).rejects.toBeInstanceOf(WorkspaceFault)
    const unknown = { task: 't', title: 't', prefix: '', content: `sha256:${'0'.repeat(64)}`, output: '' }
    await expect(workspaces.open(sampleTask(), [unknown])).rejects.toMatchObject({ code: 'not_found' })
    expect(existsSync(projectRoot)).toBe(true)
  })
})
