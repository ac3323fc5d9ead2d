import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { sandboxState } from '../src/adapters/process/sandbox.ts'
import { useAssay } from './front-door/assay.ts'
import { oneTask } from './front-door/one-task.ts'
import type { Project } from './front-door/project.ts'

const timeout = 120_000
const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`what a sandbox keeps read-only is not tested: ${sandbox.reason}`)
useAssay()

const git = (project: Project, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...words], {
    cwd: project.folder,
    encoding: 'utf8',
  }).trim()

/** One task in a worktree of a repository that holds `a.txt`. */
function inWorktree(worker: string): Project {
  const project = oneTask({ worker, review: { maxAttempts: 1 }, task: { workspace: 'worktree' } })
  project.write({ 'a.txt': 'a\n' })
  git(project, 'init', '-q', '-b', 'main')
  git(project, 'add', 'a.txt')
  git(project, 'commit', '-qm', 'as it was')
  return project
}

const dataOf = async (project: Project, type: string) => (await project.events()).find((event) => event.type === type)?.data

describe("a judge's prompt", () => {
  it('shows files that the work deleted, as they were, and what a passing check found', { timeout }, async () => {
    const project = oneTask({
      worker: 'rm app/old.txt; echo weaker > app/rules.txt; echo new > app/new.txt; echo done',
      review: { maxAttempts: 1 },
      task: {
        workspace: 'folder: .',
        checks: [{ id: 'rules', kind: 'command', argv: ['grep', 'strict', 'app/rules.txt'], protect: ['app/rules.txt'] }],
      },
    })
    project.write({
      'app/old.txt': 'once this stood here\n',
      'app/rules.txt': 'strict\n',
      'judge.sh': `#!/bin/sh\ncat > '${project.log('prompt')}'\necho 'SCORE: 80'\n`,
    })
    const { code, stderr } = await project.run(['run', 'm.yaml'])
    expect(code, stderr).toBe(0)
    expect(project.has('app/old.txt'), 'the work deleted it').toBe(false)
    const prompt = project.logged('prompt').join('\n')
    expect(prompt).toMatch(/FILE app\/old\.txt.*deleted.*once this stood here/s)
    expect(prompt).toContain('app/rules.txt is protected and was edited')
    expect(await dataOf(project, 'checks.passed')).toMatchObject({ reports: [{ id: 'rules', outcome: 'pass' }] })
  })
})

describe('a worktree', () => {
  it('with conflict markers in it does not reach a judge, and says where they are', { timeout }, async () => {
    const project = inWorktree(`printf '<<<<<<< ours\\nx\\n=======\\ny\\n>>>>>>> theirs\\n' > a.txt; echo fine > b.txt; echo done`)
    await project.run(['run', 'm.yaml'])
    expect(await dataOf(project, 'checks.failed')).toMatchObject({
      reports: [{ id: 'conflict-markers', outcome: 'fail', summary: expect.stringMatching(/markers.*a\.txt$/) }],
    })
    expect(project.logged('sittings')).toEqual([])
  })

  it('whose files only speak of markers passes', { timeout }, async () => {
    const project = inWorktree(`printf 'a line of ======= and <<<<<<< is no conflict\\n' > a.txt; echo done`)
    const { code, stderr } = await project.run(['run', 'm.yaml'])
    expect(code, stderr).toBe(0)
    expect(project.logged('sittings')).toHaveLength(1)
  })
})

describe('the .git of a workspace', () => {
  /** Writes where the worker says, and how that went; its own files it can write. */
  const attack = (
    log: string,
  ) => `{ (echo pwned > .git/hooks/pre-commit || echo pwned > .git) && echo wrote || echo refused; } > '${log}' 2>/dev/null
mv .git gone 2>/dev/null && echo moved >> '${log}'
echo mine > mine.txt; echo done`

  it.skipIf(!sandbox.usable)('is read-only for a worker in a shared folder', { timeout }, async () => {
    const project = oneTask({ worker: '', review: { maxAttempts: 1 }, task: { workspace: 'folder: app' } })
    project.write({ 'app/a.txt': 'a\n', 'worker.sh': `#!/bin/sh\n${attack(project.log('tried'))}\n` })
    git(project, 'init', '-q', '-b', 'main', 'app')
    const { code, stderr } = await project.run(['run', 'm.yaml'])
    expect(code, stderr).toBe(0)
    expect(project.logged('tried')).toEqual(['refused'])
    expect(project.read('app/mine.txt')).toBe('mine\n')
    expect(project.has('app/.git/HEAD') && !project.has('app/.git/hooks/pre-commit')).toBe(true)
  })

  it.skipIf(!sandbox.usable)(
    'is read-only for a worker in a worktree, and so is the repository that it belongs to',
    { timeout },
    async () => {
      const project = inWorktree('')
      const outside = `echo pwned > '${project.folder}/.git/hooks/pre-commit' && echo outside >> '${project.log('tried')}'\n`
      project.write({ 'worker.sh': `#!/bin/sh\n${attack(project.log('tried'))}\n${outside}echo done\n` })
      const { code, stderr } = await project.run(['run', 'm.yaml'])
      expect(code, stderr).toBe(0)
      expect(project.logged('tried')).toEqual(['refused'])
      expect(project.has('.git/hooks/pre-commit')).toBe(false)
      expect(git(project, 'ls-tree', '--name-only', 'assay/m-1/result').split('\n')).toContain('mine.txt')
    },
  )
})
