import { chmodSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsOf, plant, taken } from '../../../../testing/snapshot-suite/trees.ts'
import { filesOf, git, merged, openProject, repositoryWith, worktreeTask } from '../../../../testing/worktrees/project.ts'

const [one, two, three] = [worktreeTask('one'), worktreeTask('two'), worktreeTask('three')]
const hex = (text: string) => Buffer.from(text).toString('hex')
const lines = (...texts: string[]) => `${texts.join('\n')}\n`
const parents = (repository: string, commit: string) => git(repository, 'log', '-1', '--format=%P', commit).trim().split(' ')

describe('work of parallel tasks', () => {
  it('is committed and merged; the mission’s branch moves only when it is published', async () => {
    const { repository, workspaces, submit, integrationOf, snapshots } = repositoryWith({ 'a.txt': 'A', 'b.txt': 'B' })
    const start = git(repository, 'rev-parse', 'HEAD').trim()
    const first = await workspaces.open(one, [])
    plant((await workspaces.open(two, [])).path, { 'b.txt': 'two' })
    plant(first.path, { 'a.txt': 'one' })
    const prepared = merged((await submit(one)).prepared)
    expect(prepared).toMatchObject({ onto: start, base: first.base })
    expect(parents(repository, prepared.commit)).toEqual([start])
    expect(git(repository, 'log', '-1', '--format=%an <%ae>|%cn|%B', prepared.commit).trim()).toBe(
      'Ada <ada@example.org>|Ada|Work of one\n\nAssay-Task: one',
    )
    expect(git(repository, 'rev-parse', 'assay/ship/result').trim()).toBe(start)
    expect(git(repository, 'rev-parse', 'assay/ship/task/one').trim()).toBe(prepared.commit)
    expect(await integrationOf(one).publish(prepared)).toBe('published')
    expect(await integrationOf(one).publish(prepared)).toBe('published')
    const second = merged((await submit(two)).prepared)
    expect(second.onto).toBe(prepared.commit)
    expect(second.base).toBe(prepared.snapshot)
    expect(parents(repository, second.commit)).toEqual([prepared.commit, git(repository, 'rev-parse', 'assay/ship/task/two').trim()])
    expect((await snapshots.manifest(second.snapshot))?.files.map((file) => file.path)).toEqual(['.gitignore', 'a.txt', 'b.txt'])
    expect(await integrationOf(two).publish(second)).toBe('published')
    expect(filesOf(repository, 'assay/ship/result')).toMatchObject({ 'a.txt': `100644 ${hex('one')}`, 'b.txt': `100644 ${hex('two')}` })
    expect(git(repository, 'fsck', '--strict', '--no-dangling')).toBe('')
  })

  it('comes to the same commit when it is prepared again', async () => {
    const { workspaces, submit, land } = repositoryWith({ 'a.txt': 'A' })
    for (const task of [one, two]) plant((await workspaces.open(task, [])).path, { [task.id]: 'x' })
    const first = (await submit(one)).prepared
    expect((await submit(one)).prepared).toEqual(first)
    await land(two)
    const joined = (await submit(one)).prepared
    expect(joined).not.toEqual(first)
    expect((await submit(one)).prepared).toEqual(joined)
    expect((await submit(one, 'Said in other words')).prepared).not.toEqual(joined)
  })

  it('is not published over what another task published meanwhile, but merged again', async () => {
    const { workspaces, submit, integrationOf, land, repository } = repositoryWith({ 'a.txt': 'A' })
    for (const task of [one, two]) plant((await workspaces.open(task, [])).path, { [`${task.id}.txt`]: 'x' })
    const early = merged((await submit(one)).prepared)
    await land(two)
    expect(await integrationOf(one).publish(early)).toBe('moved')
    const sideways = { commit: early.commit, onto: git(repository, 'rev-parse', 'assay/ship/result').trim() }
    await expect(integrationOf(one).publish(sideways)).rejects.toMatchObject({ code: 'git_failed' })
    expect((await land(one)).answer).toBe('published')
    expect(Object.keys(filesOf(repository, 'assay/ship/result'))).toEqual(['.gitignore', 'a.txt', 'one.txt', 'two.txt'])
  })

  it('can be prepared as the merge that it came to, under other words', async () => {
    const { workspaces, submit, integrationOf, land, repository } = repositoryWith({ 'a.txt': lines('1', '2', '3', '4', '5') })
    plant((await workspaces.open(one, [])).path, { 'a.txt': lines('one', '2', '3', '4', '5') })
    const { path, base } = await workspaces.open(two, [])
    plant(path, { 'a.txt': lines('1', '2', '3', '4', 'two') })
    await land(one)
    const joined = merged((await submit(two)).prepared)
    const again = merged(await integrationOf(two).prepare(joined, { subject: 'Reviewed again', trailers: {} }))
    expect(again).toMatchObject({ onto: joined.onto, snapshot: joined.snapshot, base: joined.base })
    expect(parents(repository, again.commit)).toEqual([joined.onto])
    plant((await workspaces.open(three, [])).path, { 'three.txt': '3' })
    await land(three)
    const late = merged(await integrationOf(two).prepare(joined, { subject: 'Reviewed again', trailers: {} }))
    expect(await integrationOf(two).publish(late)).toBe('published')
    expect(filesOf(repository, 'assay/ship/result')).toMatchObject({
      'a.txt': `100644 ${hex(lines('one', '2', '3', '4', 'two'))}`,
      'three.txt': `100644 ${hex('3')}`,
    })
    expect((await workspaces.open(two, [])).base).toBe(base)
  })

  it('that changed nothing needs no commit', async () => {
    const { workspaces, land, repository } = repositoryWith({ 'a.txt': 'A' })
    await workspaces.open(one, [])
    const { merge, answer } = await land(one)
    expect(merge.commit).toBe(merge.onto)
    expect(merge.snapshot).toBe(merge.base)
    expect(answer).toBe('published')
    expect(git(repository, 'rev-list', '--count', 'assay/ship/result').trim()).toBe('1')
  })
})

describe('a conflict', () => {
  const text = (middle: string) => lines('a', 'b', 'c', middle, 'd', 'e', 'f')

  it('names the files, comes back marked, and is over when it is resolved', async () => {
    const project = repositoryWith({ 'a.txt': text('old'), 'other.txt': 'o', 'gone.txt': 'g' })
    const { repository, workspaces, submit, integrationOf, land, snapshots } = project
    const base = (await workspaces.open(two, [])).base
    const { path } = await workspaces.open(two, [])
    plant((await workspaces.open(one, [])).path, { 'a.txt': text('one'), 'one.txt': 'new', 'gone.txt': 'changed' })
    plant(path, { 'a.txt': text('two'), 'two.txt': 'new', 'node_modules/m': 'kept' })
    rmSync(join(path, 'gone.txt'))
    const { merge } = await land(one)
    const conflict = await submit(two)
    expect(conflict.prepared).toMatchObject({ kind: 'conflict', paths: ['a.txt', 'gone.txt'] })
    expect(conflict.prepared.kind === 'conflict' && conflict.prepared.detail).toContain('CONFLICT (content): Merge conflict in a.txt')
    await integrationOf(two).catchUp()
    const caught = readFileSync(join(path, 'a.txt'), 'utf8')
    expect(caught).toBe(text(lines('<<<<<<< the-mission-so-far', 'one', '=======', 'two', '>>>>>>> this-task').trimEnd()))
    expect(Object.keys(contentsOf(path))).toEqual([
      '.git',
      '.gitignore',
      'a.txt',
      'gone.txt',
      'node_modules/m',
      'one.txt',
      'other.txt',
      'two.txt',
    ])
    const opened = await workspaces.open(two, [])
    expect(opened.base).toBe(merge.snapshot)
    expect(opened.base).not.toBe(base)
    expect(git(path, 'status', '--porcelain')).toBe(' M a.txt\n?? node_modules/\n?? two.txt\n')
    await integrationOf(two).catchUp()
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe(caught)
    plant(path, { 'a.txt': text('both') })
    const done = await land(two)
    expect(done.answer).toBe('published')
    expect(parents(repository, done.merge.commit)).toEqual([merge.commit])
    expect((await snapshots.manifest(done.merge.snapshot))?.files.map((file) => file.path)).toEqual([
      '.gitignore',
      'a.txt',
      'gone.txt',
      'one.txt',
      'other.txt',
      'two.txt',
    ])
  })

  it('comes back again where yet another task landed on the same lines', async () => {
    const { workspaces, submit, integrationOf, land } = repositoryWith({ 'a.txt': text('old') })
    for (const task of [one, two, three]) plant((await workspaces.open(task, [])).path, { 'a.txt': text(task.id) })
    await land(one)
    expect((await submit(three)).prepared.kind).toBe('conflict')
    await integrationOf(two).catchUp()
    plant((await workspaces.open(two, [])).path, { 'a.txt': text('one and two') })
    await land(two)
    await integrationOf(three).catchUp()
    const { path } = await workspaces.open(three, [])
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toContain('one and two')
    plant(path, { 'a.txt': text('all') })
    expect((await land(three)).answer).toBe('published')
  })

  it('older work, measured against an older base, can still be taken up', async () => {
    const { workspaces, submit, integrationOf, land, snapshots } = repositoryWith({ 'a.txt': 'A' })
    plant((await workspaces.open(two, [])).path, { 'two.txt': 'v1' })
    const old = (await submit(two)).content
    plant((await workspaces.open(one, [])).path, { 'one.txt': 'x' })
    await land(one)
    await integrationOf(two).catchUp()
    plant((await workspaces.open(two, [])).path, { 'two.txt': 'v2' })
    await submit(two)
    const again = merged(await integrationOf(two).prepare(old, { subject: 'v1 after all', trailers: {} }))
    expect((await snapshots.manifest(again.snapshot))?.files.map((file) => file.path)).toEqual([
      '.gitignore',
      'a.txt',
      'one.txt',
      'two.txt',
    ])
    expect(Buffer.from((await snapshots.read(again.snapshot, 'two.txt')) ?? []).toString()).toBe('v1')
    const unknown = { snapshot: old.snapshot, base: `sha256:${'0'.repeat(64)}` as const }
    await expect(integrationOf(two).prepare(unknown, { subject: 'x', trailers: {} })).rejects.toMatchObject({ code: 'bad_record' })
  })
})

describe('what is committed', () => {
  it('is the snapshot, not what the workspace holds by then', async () => {
    const { workspaces, snapshots, integrationOf, repository } = repositoryWith({ 'a.txt': 'A' })
    const { path, base } = await workspaces.open(one, [])
    plant(path, { 'a.txt': 'reviewed' })
    const { digest } = await taken(snapshots, path, (inner) => workspaces.ignored(inner, one))
    plant(path, { 'a.txt': 'changed afterwards', 'late.txt': 'x' })
    const { commit } = merged(await integrationOf(one).prepare({ snapshot: digest, base }, { subject: 's', trailers: {} }))
    expect(filesOf(repository, commit)).toMatchObject({ 'a.txt': `100644 ${hex('reviewed')}` })
    expect(Object.keys(filesOf(repository, commit))).toEqual(['.gitignore', 'a.txt'])
  })

  it('has every name, right and bit of it', async () => {
    const names = [
      '$(touch x)',
      '-rf',
      '--all',
      ':(top)x',
      '*',
      'a\nb',
      'ünï/cödé 日本',
      '"quoted"',
      'back\\slash',
      'tab\tname',
      ' lead',
      '!x',
      '#y',
    ]
    const { workspaces, submit, repository } = repositoryWith({
      '-n': 'old',
      'run.sh': 'x',
      'was.sh': ['x'],
      'd/f': 'x',
      file: 'x',
    })
    const { path } = await workspaces.open(one, [])
    plant(path, Object.fromEntries(names.map((name) => [name, `of ${name}`])))
    plant(path, { '-n': 'new' })
    chmodSync(join(path, 'run.sh'), 0o755)
    chmodSync(join(path, 'was.sh'), 0o644)
    rmSync(join(path, 'd'), { recursive: true })
    rmSync(join(path, 'file'))
    plant(path, { d: 'a file now', 'file/inner': 'a folder now' })
    const { content, prepared } = await submit(one)
    const { commit, snapshot } = merged(prepared)
    const expected = Object.fromEntries([...names, '-n'].map((name) => [name, `100644 ${hex(name === '-n' ? 'new' : `of ${name}`)}`]))
    expect(filesOf(repository, commit)).toEqual({
      ...expected,
      '.gitignore': `100644 ${hex('.assay/\n')}`,
      'run.sh': `100755 ${hex('x')}`,
      'was.sh': `100644 ${hex('x')}`,
      d: `100644 ${hex('a file now')}`,
      'file/inner': `100644 ${hex('a folder now')}`,
    })
    expect(snapshot).toBe(content.snapshot)
  })

  it('is not what a worker committed by itself, nor where it left its branch', async () => {
    const { workspaces, land, repository } = repositoryWith({ 'a.txt': 'A' })
    const { path } = await workspaces.open(one, [])
    plant(path, { 'secret.txt': 'S' })
    git(path, 'add', '-A')
    git(path, 'commit', '--quiet', '-m', 'by the worker')
    const own = git(path, 'rev-parse', 'HEAD').trim()
    rmSync(join(path, 'secret.txt'))
    plant(path, { 'a.txt': 'work' })
    await land(one)
    expect(git(repository, 'rev-list', 'assay/ship/result')).not.toContain(own)
    expect(Object.keys(filesOf(repository, 'assay/ship/result'))).toEqual(['.gitignore', 'a.txt'])
    await workspaces.open(one, [])
    expect(git(path, 'status', '--porcelain')).toBe('')
  })

  it('may be many files, for a mission and a task of any name', async () => {
    const { workspaces, land, repository } = repositoryWith({ 'a.txt': 'A' })
    const strange = worktreeTask('Fix: ~^?*[\\ ..@{ .lock', { mission: '-Ship it! .lock/../~é' })
    const { path } = await workspaces.open(strange, [])
    plant(path, Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`many/${n}.txt`, `file ${n}`])))
    const { merge, answer } = await land(strange)
    expect(answer).toBe('published')
    expect(git(repository, 'diff', '--shortstat', 'HEAD', merge.commit)).toContain('600 files changed')
    expect(git(repository, 'branch', '--list', 'assay/*/result')).toMatch(/assay\/ship-it-lock-é\.[0-9a-f]{64}\/result/)
    await workspaces.close(strange)
  })

  it('leaves links and the like as the base has them', async () => {
    const project = repositoryWith({ 'a.txt': 'A', 'b.txt': 'B', 'd/x': 'x' })
    const { repository } = project
    symlinkSync('a.txt', join(repository, 'link'))
    symlinkSync('/etc', join(repository, 'etc'))
    git(repository, 'add', 'link', 'etc')
    git(repository, 'update-index', '--add', '--cacheinfo', `160000,${git(repository, 'rev-parse', 'HEAD').trim()},module`)
    git(repository, 'commit', '--quiet', '-m', 'links')
    const { workspaces, submit, land, integrationOf } = openProject(repository)
    const { path } = await workspaces.open(one, [])
    expect(readlinkSync(join(path, 'link'))).toBe('a.txt')
    rmSync(join(path, 'link'))
    symlinkSync('/etc/passwd', join(path, 'link'))
    rmSync(join(path, 'b.txt'))
    symlinkSync('a.txt', join(path, 'b.txt'))
    rmSync(join(path, 'd'), { recursive: true })
    symlinkSync('/etc', join(path, 'd'))
    symlinkSync('/etc', join(path, 'new-link'))
    writeFileSync(join(path, 'new.txt'), 'N')
    const { commit } = merged((await submit(one)).prepared)
    expect(git(repository, 'diff', '--name-status', 'HEAD', commit)).toBe('A\tnew.txt\n')
    await land(one)
    plant((await workspaces.open(two, [])).path, { 'two.txt': '2' })
    await integrationOf(two).catchUp()
    expect(readlinkSync(join((await workspaces.open(two, [])).path, 'link'))).toBe('a.txt')
  })

  it('has no name that some file system takes for .git; the worker is told', async () => {
    const { workspaces, submit, integrationOf, land } = repositoryWith({ 'a.txt': 'A' })
    for (const task of [one, two]) plant((await workspaces.open(task, [])).path, { [task.id]: 'x' })
    const { path } = await workspaces.open(one, [])
    plant(path, { '.GIT/hooks/post-checkout': ['x'], 'sub/git~1': 'x' })
    expect((await submit(one)).prepared).toMatchObject({ kind: 'conflict', paths: ['.GIT/hooks/post-checkout', 'sub/git~1'] })
    await land(two)
    await integrationOf(one).catchUp()
    expect((await land(one)).answer).toBe('published')
  })
})
