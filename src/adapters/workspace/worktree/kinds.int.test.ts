import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentsOf, plant, planted, type Tree, tempFolder } from '../../../testing/snapshot-suite/trees.ts'
import {
  filesOf,
  git,
  initRepository,
  merged,
  openProject,
  repositoryWith,
  usersOwn,
  worktreeTask,
} from '../../../testing/worktrees/project.ts'

const [one, two] = [worktreeTask('one'), worktreeTask('two')]

describe('where there can be no worktree', () => {
  it('it is said why', async () => {
    const plain = openProject(tempFolder())
    await expect(plain.workspaces.open(one, [])).rejects.toMatchObject({
      code: 'no_repository',
      message: expect.stringContaining('is not in a git repository'),
    })
    git(plain.repository, 'init', '--quiet')
    await expect(plain.workspaces.open(one, [])).rejects.toMatchObject({
      code: 'no_repository',
      message: expect.stringContaining('has no commit yet'),
    })
    const bare = openProject(initRepository(tempFolder(), '--bare'))
    await expect(bare.workspaces.open(one, [])).rejects.toMatchObject({ code: 'no_repository', message: expect.stringContaining('bare') })
    const inside = openProject(join(initRepository(tempFolder()), '.git'))
    await expect(inside.workspaces.open(one, [])).rejects.toMatchObject({
      code: 'no_repository',
      message: expect.stringContaining('work tree'),
    })
  })

  it('git that is missing, old or strange is named', async () => {
    const { reopen } = repositoryWith({ a: 'a' })
    await expect(reopen('no-such-git').open(one, [])).rejects.toMatchObject({ code: 'git_missing' })
    for (const version of ['git version 2.37.9', 'git version 1.99.0', 'something else']) {
      const tools = planted({ git: [`#!/bin/sh\necho ${version}\n`] })
      await expect(reopen(join(tools, 'git')).open(one, [])).rejects.toMatchObject({
        code: 'git_too_old',
        message: expect.stringContaining(version),
      })
    }
    const full = planted({
      git: [
        '#!/bin/sh\ncase "$*" in *version*) git version;; *rev-parse*) git "$@";; *config*) exit 1;; *) echo "fatal: No space left on device" >&2; exit 128; esac\n',
      ],
    })
    await expect(reopen(join(full, 'git')).open(one, [])).rejects.toMatchObject({ code: 'disk_full' })
  })

  it('a branch in the way, a removed branch and a damaged record are not guessed around', async () => {
    const taken = repositoryWith({ a: 'a' })
    git(taken.repository, 'branch', 'assay')
    await expect(taken.workspaces.open(one, [])).rejects.toMatchObject({
      code: 'git_failed',
      message: expect.stringContaining('refs/heads/assay'),
    })
    const { workspaces, repository, folder } = repositoryWith({ a: 'a' })
    await workspaces.open(one, [])
    git(repository, 'branch', '-D', 'assay/ship/result')
    await expect(workspaces.open(one, [])).rejects.toMatchObject({
      code: 'bad_record',
      message: expect.stringContaining('assay/ship/result'),
    })
    git(repository, 'branch', 'assay/ship/result')
    for (const name of ['one.worktree', 'ship.mission']) {
      const record = readFileSync(join(folder, name), 'utf8')
      for (const damage of ['', '{"version":1', '{"version":2}', record.replace('"version":1', '"version":1,"more":1')]) {
        plant(folder, { [name]: damage })
        await expect(workspaces.open(one, [])).rejects.toMatchObject({ code: 'bad_record', message: expect.stringContaining(name) })
      }
      plant(folder, { [name]: record })
    }
    await expect(workspaces.open(one, [])).resolves.toMatchObject({ path: join(folder, 'one') })
  })
})

describe('repositories of other kinds', () => {
  const life = async ({ workspaces, land, integrationOf, repository }: ReturnType<typeof openProject>) => {
    const before = usersOwn(repository)
    for (const task of [one, two]) plant((await workspaces.open(task, [])).path, { [`${task.id}.txt`]: 'x' })
    await land(one)
    await integrationOf(two).catchUp()
    expect((await land(two)).answer).toBe('published')
    expect(Object.keys(filesOf(repository, 'assay/ship/result'))).toEqual(expect.arrayContaining(['one.txt', 'two.txt']))
    expect(usersOwn(repository)).toEqual(before)
  }

  it('shallow clones work', async () => {
    const { repository } = repositoryWith({ a: 'a' })
    git(repository, 'commit', '--quiet', '--allow-empty', '-m', 'second')
    const clone = join(tempFolder(), 'clone')
    git(tempFolder(), 'clone', '--quiet', '--depth=1', `file://${repository}`, clone)
    expect(existsSync(join(clone, '.git/shallow'))).toBe(true)
    await life(openProject(clone))
  })

  it('sparse checkouts get the whole tree', async () => {
    const project = repositoryWith({ 'in/a': 'a', 'out/b': 'b', 'out/c': 'c' })
    git(project.repository, 'sparse-checkout', 'set', 'in')
    expect(existsSync(join(project.repository, 'out/b'))).toBe(false)
    await life(project)
    const { path } = await project.workspaces.open(one, [])
    expect(Object.keys(contentsOf(path))).toEqual(expect.arrayContaining(['in/a', 'out/b', 'out/c']))
    expect(Object.keys(filesOf(project.repository, 'assay/ship/result'))).toEqual(expect.arrayContaining(['out/b', 'out/c']))
  })

  it('a worktree of the user’s own, SHA-256 objects and packed refs work', async () => {
    const { repository } = repositoryWith({ a: 'a' }, { init: ['--object-format=sha256'] })
    git(repository, 'pack-refs', '--all')
    const own = join(tempFolder(), 'own')
    git(repository, 'worktree', 'add', '--quiet', '-b', 'mine', own)
    plant(own, { b: 'b' })
    git(own, 'add', 'b')
    git(own, 'commit', '--quiet', '-m', 'mine')
    const { workspaces, land } = openProject(own)
    const { path } = await workspaces.open(one, [])
    plant(path, { c: 'c' })
    expect((await land(one)).answer).toBe('published')
    expect(Object.keys(filesOf(repository, 'assay/ship/result'))).toEqual(['.gitignore', 'a', 'b', 'c'])
    await workspaces.close(one)
    expect(git(repository, 'worktree', 'list')).toContain(own)
  })
})

describe('any change of any tree', () => {
  const part = fc.constantFrom('a', 'b', 'c', 'x y', '-n', 'é', '$(touch x)', 'n\nl')
  const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
  const file = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.string({ maxLength: 8 }).map((text): [string] => [text]),
    fc.uint8Array({ maxLength: 8 }),
  )
  /** No path is a folder and a file at once. */
  const tree: fc.Arbitrary<Tree> = fc.dictionary(path, file, { maxKeys: 8 }).map((files) => {
    const paths = Object.keys(files)
    return Object.fromEntries(Object.entries(files).filter(([name]) => !paths.some((other) => other.startsWith(`${name}/`))))
  })
  const asCommitted = (files: Tree) =>
    Object.fromEntries(
      Object.entries(files).map(([name, content]) => {
        const [mode, bytes] = Array.isArray(content) ? ['100755', content[0]] : ['100644', content]
        return [name, `${mode} ${Buffer.from(bytes).toString('hex')}`]
      }),
    )

  it('is committed as it is, and what is not the work stays as the base has it', async () => {
    const kept: Tree = { 'node_modules/m/index.js': 'tracked', 'docs/.assay/x': 'tracked' }
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        const { repository, workspaces, submit } = repositoryWith({ ...before, ...kept })
        const { path: workspace } = await workspaces.open(one, [])
        for (const name of Object.keys({ ...before, '.gitignore': '' }))
          rmSync(join(workspace, name.split('/')[0] ?? ''), { recursive: true, force: true })
        plant(workspace, after)
        plant(workspace, { 'node_modules/m/index.js': 'changed', 'node_modules/new': 'new' })
        const { content, prepared } = await submit(one)
        const { commit, snapshot } = merged(prepared)
        expect(filesOf(repository, commit)).toEqual(asCommitted({ ...after, ...kept }))
        expect(snapshot).toBe(content.snapshot)
      }),
      { numRuns: 15 },
    )
  }, 300_000)
})
