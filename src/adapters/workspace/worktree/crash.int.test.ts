import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsOf, expectedContents, plant, type Tree } from '../../../testing/snapshot-suite/trees.ts'
import { killingGit, runStep, type StepEnding } from '../../../testing/worktrees/process.ts'
import { filesOf, git, merged, repositoryWith, usersOwn, worktreeTask } from '../../../testing/worktrees/project.ts'

const [one, two] = [worktreeTask('one'), worktreeTask('two')]
const files: Tree = { 'a.txt': 'old\n', 'd/run.sh': ['#!'], 'b.txt': 'B\n' }
/** The calls before only find the repository. */
const firstCall = 8
const slow = 600_000
/** ASSAY_CRASH_FULL=1 dies at every moment there is; otherwise at every seventh. */
const usual = process.env.ASSAY_CRASH_FULL === '1' ? 1 : 11

/** Repeats a step, killed after a later call of git each time, until it comes through; says how often it was killed. */
async function killedAtEveryCall(
  step: (git: string) => Promise<StepEnding>,
  recovered: () => Promise<void>,
  options: { every?: number; when?: 'before' | 'after' } = {},
): Promise<number> {
  for (let killed = 0; ; killed++) {
    const ending = await step(killingGit(firstCall + killed * (options.every ?? 1) * usual, options.when))
    await recovered()
    if (ending.signal !== 'SIGKILL') {
      expect(ending).toMatchObject({ code: 0 })
      return killed
    }
  }
}

describe('a process that is killed', () => {
  it.each(['before', 'after'] as const)(
    'while it opens a worktree, %s each call of git, leaves nothing that the next one trips over',
    async (when) => {
      const check = async () => {
        const { path } = await project.reopen().open(one, [])
        const { '.git': link, ...rest } = contentsOf(path)
        expect(link).toBeDefined()
        expect(rest).toEqual(expectedContents({ '.gitignore': '.assay/\n', ...files }))
        expect(git(path, 'status', '--porcelain')).toBe('')
        expect(git(project.repository, 'worktree', 'list').trim().split('\n')).toHaveLength(2)
        expect(git(project.repository, 'worktree', 'prune', '--dry-run', '--verbose')).toBe('')
        expect(readdirSync(project.folder).filter((name) => /incoming|staging/.test(name))).toEqual([])
        expect(usersOwn(project.repository)).toEqual(project.before)
      }
      const fresh = () => {
        const made = repositoryWith(files)
        return { ...made, before: usersOwn(made.repository) }
      }
      let project = fresh()
      const killed = await killedAtEveryCall(
        (program) => {
          project = fresh()
          return runStep({ ...project, task: one, step: 'open', git: program })
        },
        check,
        { when },
      )
      expect(killed).toBeGreaterThan(usual === 1 ? 5 : 0)
    },
    slow,
  )

  it(
    'at any moment of opening and closing a worktree leaves it to be opened',
    async () => {
      const project = repositoryWith(files)
      const before = usersOwn(project.repository)
      let fired = 0
      for (const step of ['open', 'close'] as const) {
        for (let killAfterMs = 60; ; killAfterMs *= usual === 1 ? 1.2 : 1.6) {
          const ending = await runStep({ ...project, task: one, step }, killAfterMs)
          if (ending.signal === null) break
          fired += 1
          const { path } = await project.reopen().open(one, [])
          expect(Object.keys(contentsOf(path))).toEqual(['.git', '.gitignore', 'a.txt', 'b.txt', 'd/run.sh'])
          if (step === 'open') await project.workspaces.close(one)
        }
      }
      expect(fired).toBeGreaterThan(usual === 1 ? 2 : 0)
      expect(usersOwn(project.repository)).toEqual(before)
    },
    slow,
  )

  it(
    'while it prepares a merge leaves it to be prepared again',
    async () => {
      const project = repositoryWith(files)
      const { repository, workspaces, submit, land, integrationOf } = project
      for (const task of [one, two]) plant((await workspaces.open(task, [])).path, { [task.id]: 'x', 'a.txt': 'new\n' })
      plant((await workspaces.open(two, [])).path, { 'a.txt': 'old\n' })
      const { content } = await submit(one)
      await land(two)
      let expected: object | undefined
      const killed = await killedAtEveryCall(
        (program) => runStep({ ...project, task: one, step: 'prepare', git: program, content }),
        async () => {
          const note = { subject: 'Work of one', trailers: { 'Assay-Task': 'one' } }
          const prepared = merged(await integrationOf(one).prepare(content, note))
          expected ??= prepared
          expect(prepared).toEqual(expected)
        },
      )
      expect(killed).toBeGreaterThan(usual === 1 ? 5 : 0)
      expect(await integrationOf(one).publish(merged((await submit(one)).prepared))).toBe('published')
      expect(Object.keys(filesOf(repository, 'assay/ship/result'))).toEqual(['.gitignore', 'a.txt', 'b.txt', 'd/run.sh', 'one', 'two'])
      git(repository, 'fsck', '--strict')
    },
    slow,
  )

  it(
    'while it brings a conflict back does not make it bring back two',
    async () => {
      let caught: string | undefined
      let project = repositoryWith(files)
      const killed = await killedAtEveryCall(
        async (program) => {
          project = repositoryWith(files)
          for (const task of [one, two]) plant((await project.workspaces.open(task, [])).path, { 'a.txt': `${task.id}\n` })
          await project.land(one)
          return runStep({ ...project, task: two, step: 'catchUp', git: program })
        },
        async () => {
          await project.integrationOf(two).catchUp()
          const { path } = await project.workspaces.open(two, [])
          caught ??= readFileSync(join(path, 'a.txt'), 'utf8')
          expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe(caught)
          expect(git(path, 'status', '--porcelain')).toBe(' M a.txt\n')
        },
        { every: 2 },
      )
      expect(killed).toBeGreaterThan(usual === 1 ? 4 : 0)
      expect(caught).toBe('<<<<<<< the-mission-so-far\none\n=======\ntwo\n>>>>>>> this-task\n')
    },
    slow,
  )
})

describe('leftovers', () => {
  const old = new Date(Date.now() - 24 * 3_600_000)

  it('of every kind are cleaned or gone on from', async () => {
    const { repository, folder, workspaces, submit, land } = repositoryWith(files)
    plant(repository, { '.git/worktrees/one/locked': 'initializing' })
    utimesSync(join(repository, '.git/worktrees/one'), old, old)
    const { path } = await workspaces.open(one, [])
    expect(readdirSync(join(repository, '.git/worktrees'))).toEqual(['one'])
    plant(path, { 'a.txt': 'work' })
    mkdirSync(join(folder, '.drafts/draft-old'))
    writeFileSync(join(repository, '.git/refs/heads/assay/ship/task/one.lock'), '')
    for (const stale of ['.git/refs/heads/assay/ship/task/one.lock', '.assay/work/.drafts/draft-old'])
      utimesSync(join(repository, stale), old, old)
    writeFileSync(join(repository, '.git/worktrees/one/index.lock'), '')
    await submit(one)
    await workspaces.open(one, [])
    expect(readdirSync(join(folder, '.drafts'))).toEqual([])
    expect(git(path, 'status', '--porcelain')).toBe('')
    git(repository, 'worktree', 'list')
    // Git forgets a worktree whose folder was away for a while; its work is still there.
    git(repository, 'worktree', 'remove', '--force', path)
    plant(path, { 'a.txt': 'work goes on', '.git': 'gitdir: /nowhere' })
    await workspaces.open(one, [])
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('work goes on')
    expect(git(path, 'symbolic-ref', 'HEAD').trim()).toBe('refs/heads/assay/ship/task/one')
    // Somebody removed the folder: what was committed is there again.
    git(repository, 'worktree', 'remove', '--force', path)
    await workspaces.open(one, [])
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('work')
    expect((await land(one)).answer).toBe('published')
  })
})

describe('several processes at once', () => {
  it('land the tasks of one mission, all of them', async () => {
    const project = repositoryWith(files)
    const tasks = ['p1', 'p2', 'p3', 'p4'].map((id) => worktreeTask(id))
    const before = usersOwn(project.repository)
    const endings = await Promise.all(tasks.map((task) => runStep({ ...project, task, step: 'land' })))
    for (const ending of endings) expect(ending, ending.errors).toMatchObject({ code: 0 })
    const landed = Object.keys(filesOf(project.repository, 'assay/ship/result'))
    expect(landed).toEqual(expect.arrayContaining(['p1.txt', 'p2.txt', 'p3.txt', 'p4.txt']))
    expect(usersOwn(project.repository)).toEqual(before)
  })

  it('publish one of two merges onto the same commit', async () => {
    const project = repositoryWith(files)
    const orders = []
    for (const task of [one, two]) {
      plant((await project.workspaces.open(task, [])).path, { [task.id]: 'x' })
      orders.push({ ...project, task, step: 'publish' as const, merge: merged((await project.submit(task)).prepared) })
    }
    const endings = await Promise.all(orders.map((order) => runStep(order)))
    expect(endings.map((ending) => ending.answer).sort()).toEqual(['moved', 'published'])
  })
})
