import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Digest } from '../../../../contract/canonical.ts'
import type { SnapshotStore } from '../../../../ports/snapshots.ts'
import { readPlainFile } from '../../../process/files/plain-file.ts'
import { errnoOf } from '../../fault.ts'
import { removeFolder } from '../../inputs.ts'
import { failure } from '../git/git.ts'
import { repositoryGit } from '../git/refs.ts'
import type { Repository } from '../git/repository.ts'

const maxLinkBytes = 8192
/** Git takes milliseconds to fill an entry. */
const halfMadeMs = 2_000

/** Git's own entry for a worktree; undefined where it has none for this folder. */
export function entryOf(repository: Repository, root: string): string | undefined {
  const entries = join(repository.commonDir, 'worktrees')
  const wanted = `${gitPath(root)}/.git`
  for (const name of namesIn(entries)) {
    if (linkOf(join(entries, name)) === wanted) return join(entries, name)
  }
  return undefined
}

/** The folder as git writes it down, whether it is there or not. */
function gitPath(root: string): string {
  return join(realpathSync(dirname(root)), basename(root))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

function linkOf(entry: string): string | undefined {
  try {
    return readFileSync(join(entry, 'gitdir'), 'utf8').trim()
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined
    throw error
  }
}

/** Registers an empty worktree on a branch of ours: no files, no hooks. */
export async function register(repository: Repository, root: string, ref: string): Promise<void> {
  mkdirSync(dirname(root), { recursive: true })
  removeHalfMade(repository, root)
  const args = ['worktree', 'add', '--force', '--force', '--no-checkout', gitPath(root), ref.replace('refs/heads/', '')]
  const answer = await repositoryGit(repository, args)
  if (answer.code !== 0) throw failure({ args }, answer.stderr)
}

/** Removes git's entry of a worktree whose folder is gone, and entries that git was killed over before they said whose they are. */
export async function unregister(repository: Repository, root: string): Promise<void> {
  removeHalfMade(repository, root)
  if (entryOf(repository, root) === undefined) return
  const args = ['worktree', 'remove', '--force', '--force', gitPath(root)]
  const answer = await repositoryGit(repository, args)
  if (answer.code !== 0 && entryOf(repository, root) !== undefined) throw failure({ args }, answer.stderr)
}

/** Entries of our naming that git was killed over before they were whole: any git in this repository would stumble over them. */
function removeHalfMade(repository: Repository, root: string): void {
  const entries = join(repository.commonDir, 'worktrees')
  for (const name of namesIn(entries)) {
    const entry = join(entries, name)
    if (!isOurs(name, root) || (linkOf(entry) !== undefined && existsSync(join(entry, 'commondir')))) continue
    const stat = lstatSync(entry, { throwIfNoEntry: false })
    if (stat && Date.now() - stat.mtimeMs > halfMadeMs) rmSync(entry, { recursive: true, force: true })
  }
}

/** Git's name for an entry: the folder's, without what a ref may not have, and a number where that is taken. */
function isOurs(name: string, root: string): boolean {
  const own = basename(root).replace('~', '-')
  return /^[a-z0-9-]+-[0-9a-f]{64}\d*$/.test(name) || (name.startsWith(own) && /^\d*$/.test(name.slice(own.length)))
}

/** The worktree's `.git` says where its entry is. Only workers' own git reads it, and it is put right whatever they made of it. */
export async function repairLink(snapshots: SnapshotStore, empty: Digest, root: string, entry: string): Promise<void> {
  const place = join(root, '.git')
  const wanted = `gitdir: ${entry}\n`
  const found = lstatSync(place, { throwIfNoEntry: false })?.isFile() ? await readPlainFile(place, maxLinkBytes) : undefined
  if (found && 'bytes' in found && found.bytes.toString() === wanted) return
  await removeFolder(snapshots, empty, place)
  writeFileSync(place, wanted, { flag: 'wx' })
}
