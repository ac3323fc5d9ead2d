import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { TaskSpec } from '../../../contract/task.ts'
import { plant, tempFolder } from '../../../testing/snapshot-suite/trees.ts'
import { filesOf, git, initRepository, repositoryWith, worktreeTask } from '../../../testing/worktrees/project.ts'

const [one, two] = [worktreeTask('one'), worktreeTask('two')]
const hex = (text: string) => Buffer.from(text).toString('hex')

/** A file that appears when somebody runs what the attacker wrote. */
function canary() {
  const file = join(tempFolder(), 'canary')
  return {
    command: `touch ${file}; false`,
    hook: `#!/bin/sh\ntouch ${file}\n`,
    /** Proves that the trap works, then sets it again. */
    firesFor(cwd: string, ...args: string[]) {
      spawnSync('git', args, { cwd, env: { PATH: process.env.PATH ?? '', GIT_CONFIG_GLOBAL: '/dev/null' } })
      expect(existsSync(file), `git ${args.join(' ')} in ${cwd} was to fall into the trap`).toBe(true)
      rmSync(file)
    },
    untouched: () => expect(existsSync(file)).toBe(false),
  }
}

/** Everything that can be done with a task of a worktree, another task landing in between. */
async function wholeLife({ workspaces, submit, land, integrationOf }: ReturnType<typeof repositoryWith>, task: TaskSpec) {
  const other = worktreeTask(`beside-${task.id}`)
  plant((await workspaces.open(other, [])).path, { [other.id]: 'x' })
  const { content } = await submit(task)
  await land(other)
  await integrationOf(task).catchUp()
  const { merge, answer } = await land(task)
  expect(answer).toBe('published')
  await workspaces.restore(task, content.snapshot)
  await workspaces.close(task)
  return merge
}

describe('a worker that prepares the ground', () => {
  it('with a .git of its own is not followed', async () => {
    const trap = canary()
    const evil = initRepository(tempFolder())
    git(evil, 'config', 'core.fsmonitor', trap.command)
    git(evil, 'config', 'core.hooksPath', join(evil, 'hooks'))
    git(evil, 'config', 'filter.evil.clean', trap.command)
    git(evil, 'config', 'filter.evil.smudge', trap.command)
    plant(evil, { 'hooks/reference-transaction': [trap.hook], 'hooks/post-index-change': [trap.hook], x: 'x' })
    const ways: ((path: string) => void)[] = [
      (path) => writeFileSync(join(path, '.git'), `gitdir: ${evil}/.git\n`),
      (path) => symlinkSync(join(evil, '.git'), join(path, '.git')),
      (path) => {
        mkdirSync(join(path, '.git'))
        spawnSync('cp', ['-r', `${evil}/.git/.`, join(path, '.git')])
      },
    ]
    for (const [at, way] of ways.entries()) {
      const project = repositoryWith({ 'a.txt': 'A' })
      const { path } = await project.workspaces.open(one, [])
      rmSync(join(path, '.git'))
      way(path)
      plant(path, { 'a.txt': `work ${at}`, '.gitattributes': '* filter=evil\n' })
      trap.firesFor(path, 'status')
      const merge = await wholeLife(project, one)
      trap.untouched()
      expect(filesOf(project.repository, merge.commit)['a.txt']).toBe(`100644 ${hex(`work ${at}`)}`)
    }
  })

  it('with settings in git’s entry of the worktree is not listened to', async () => {
    const trap = canary()
    const project = repositoryWith({ 'a.txt': 'A' })
    git(project.repository, 'config', 'core.repositoryFormatVersion', '1')
    git(project.repository, 'config', 'extensions.worktreeConfig', 'true')
    const { path } = await project.workspaces.open(one, [])
    git(path, 'config', '--worktree', 'core.fsmonitor', trap.command)
    trap.firesFor(path, 'status')
    plant(path, { 'a.txt': 'work' })
    await wholeLife(project, one)
    trap.untouched()
  })

  it('with attributes, ignore rules and drivers changes no byte of what is committed', async () => {
    const trap = canary()
    const attributes = '* text eol=crlf ident filter=evil working-tree-encoding=UTF-16LE merge=evil diff=evil export-ignore\n'
    const project = repositoryWith({ 'a.txt': 'a\nb\n$Id$\n', 'tracked.txt': 'x\r\ny\n' })
    const { repository, workspaces } = project
    for (const name of ['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process', 'merge.evil.driver', 'diff.evil.command'])
      git(repository, 'config', name, trap.command)
    git(repository, 'config', 'filter.evil.required', 'true')
    git(repository, 'config', 'core.autocrlf', 'true')
    const { path } = await workspaces.open(one, [])
    plant(path, {
      '.gitattributes': attributes,
      '.gitignore': '*\n',
      'a.txt': 'a\r\nB\n$Id$\n',
      'deep/hidden.log': 'new\r\n',
      bytes: new Uint8Array([0, 255, 13, 10]),
    })
    trap.firesFor(path, 'add', '-f', 'deep/hidden.log')
    const merge = await wholeLife(project, one)
    trap.untouched()
    const files = filesOf(repository, merge.commit)
    expect(files).toMatchObject({
      '.gitattributes': `100644 ${hex(attributes)}`,
      '.gitignore': `100644 ${hex('*\n')}`,
      'a.txt': `100644 ${hex('a\r\nB\n$Id$\n')}`,
      'deep/hidden.log': `100644 ${hex('new\r\n')}`,
      'tracked.txt': `100644 ${hex('x\r\ny\n')}`,
      bytes: '100644 00ff0d0a',
    })
    // From here on the hostile attributes are the base of the next task.
    const next = await workspaces.open(two, [])
    expect(readFileSync(join(next.path, 'tracked.txt'), 'utf8')).toBe('x\r\ny\n')
    plant(next.path, { 'tracked.txt': 'x\r\nz\n' })
    expect(filesOf(repository, (await wholeLife(project, two)).commit)['tracked.txt']).toBe(`100644 ${hex('x\r\nz\n')}`)
    trap.untouched()
  })
})

describe('what is configured around', () => {
  afterEach(() => {
    for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_CONFIG_PARAMETERS', 'GIT_EXTERNAL_DIFF'])
      delete process.env[name]
  })

  it('hooks of the user do not run, and variables of the caller’s git change nothing', async () => {
    const trap = canary()
    const project = repositoryWith({ 'a.txt': 'A' })
    const { repository, workspaces } = project
    for (const hook of ['reference-transaction', 'post-checkout', 'post-index-change', 'pre-commit', 'post-merge'])
      plant(repository, { [`.git/hooks/${hook}`]: [trap.hook] })
    trap.firesFor(repository, 'update-ref', 'refs/heads/probe', 'HEAD')
    Object.assign(process.env, {
      GIT_DIR: '/nonexistent',
      GIT_WORK_TREE: '/nonexistent',
      GIT_INDEX_FILE: '/nonexistent/index',
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${trap.command}'`,
      GIT_EXTERNAL_DIFF: trap.command,
    })
    plant((await workspaces.open(one, [])).path, { 'a.txt': 'work' })
    const merge = await wholeLife(project, one)
    trap.untouched()
    expect(filesOf(repository, merge.commit)['a.txt']).toBe(`100644 ${hex('work')}`)
  })

  it('commits carry the user’s name where git knows it, else Assay’s', async () => {
    const project = repositoryWith({ 'a.txt': 'A' })
    git(project.repository, 'config', '--unset', 'user.email')
    const home = process.env.HOME
    process.env.HOME = tempFolder()
    try {
      plant((await project.workspaces.open(one, [])).path, { 'a.txt': 'work' })
      const { merge } = await project.land(one)
      expect(git(project.repository, 'log', '-1', '--format=%an <%ae> %cn <%ce>', merge.commit).trim()).toBe(
        'Assay <assay@localhost> Assay <assay@localhost>',
      )
    } finally {
      process.env.HOME = home
    }
  })
})
