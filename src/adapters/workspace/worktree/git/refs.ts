import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { failure, type GitAnswer } from './git.ts'
import type { Repository } from './repository.ts'

/** A lock is held for milliseconds; one this old belongs to nobody. */
const staleLockMs = 15_000
const maxTries = 12

/** The commit that a ref names; undefined where there is none. */
export async function readRef(repository: Repository, ref: string): Promise<string | undefined> {
  const answer = await repositoryGit(repository, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])
  return answer.code === 0 ? answer.stdout.trim() : undefined
}

/**
 * Moves one of our own refs, from `from` where that is said (null: only where there is no such ref yet).
 * False where the ref is elsewhere. Waits for a lock that another process holds, and removes one that nobody does.
 */
export async function moveRef(repository: Repository, ref: string, to: string, from?: string | null): Promise<boolean> {
  const expected = from === undefined ? [] : [from ?? '0'.repeat(to.length)]
  const args = ['update-ref', '--no-deref', '-m', 'assay', ref, to, ...expected]
  for (let tries = 1; ; tries++) {
    const answer = await repositoryGit(repository, args)
    if (answer.code === 0) return true
    if (from !== undefined && (await readRef(repository, ref)) !== (from ?? undefined)) return false
    if (!answer.stderr.includes(".lock': File exists") || tries === maxTries) throw failure({ args }, answer.stderr)
    removeStaleLock(join(repository.commonDir, `${ref}.lock`))
    await delay(50 * tries)
  }
}

export async function isAncestor(repository: Repository, commit: string, of: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', commit, of]
  const answer = await repositoryGit(repository, args)
  if (answer.code > 1) throw failure({ args }, answer.stderr)
  return answer.code === 0
}

/** Git on the repository itself, for refs and the list of worktrees; it is never told of a worktree's own git directory. */
export async function repositoryGit(repository: Repository, args: readonly string[]): Promise<GitAnswer> {
  for (let tries = 1; ; tries++) {
    const answer = await repository.git.run({ args: [`--git-dir=${repository.commonDir}`, ...args], cwd: repository.commonDir })
    if (answer.code === 0 || !meetsHalfMade.test(answer.stderr) || tries === maxTries) return answer
    await delay(50 * tries)
  }
}

/** What git says when it looks at the entry of a worktree that another process is about to make. */
const meetsHalfMade = /failed to read .*[\\/]worktrees[\\/]/

function removeStaleLock(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat && Date.now() - stat.mtimeMs > staleLockMs) rmSync(file, { force: true })
}
