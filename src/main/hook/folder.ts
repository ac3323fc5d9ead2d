import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isIgnored } from '../../adapters/workspace/ignored.ts'
import { Git } from '../../adapters/workspace/worktree/git/git.ts'
import { listingArguments } from '../../adapters/workspace/worktree/git/quiet.ts'
import type { Digest } from '../../contract/canonical.ts'
import type { SnapshotFile, SnapshotStore } from '../../ports/snapshots.ts'
import { type Ignoring, ignoringAt, isSame, pathsIn, shownBy, textAt } from './ignoring.ts'
import { minding, ownTree } from './look.ts'

/** What decided of a folder, when a session began, which of its files count. */
export interface Rules {
  /** The folder then, with its `.gitignore` files. */
  ground: Digest
  /** What lay around it; undefined where nobody noted it. */
  ignoring?: Ignoring | undefined
}

/**
 * A folder as an agent left it: of a git repository what git does not ignore, elsewhere everything but packages. What was not ignored by the
 * rules of `before` is the agent's work whatever it wrote into a `.gitignore` since, here or above, and wherever the repository lies by now; and so is
 * what lies in a repository inside this one.
 */
export async function takeFolder(snapshots: SnapshotStore, folder: string, before?: Rules): Promise<TakenFolder> {
  const now = await listedByGit(folder)
  const ignoring = ignoringAt(folder, now !== undefined)
  const moved = before?.ignoring !== undefined && !isSame(before.ignoring, ignoring)
  // Where everything counted, everything does.
  const listed = before?.ignoring?.top === null ? undefined : (now ?? (moved ? new Set<string>() : undefined))
  const hidden = listed && before ? await hiddenSince(snapshots, { folder, before, listed, moved, ignoring }) : []
  const work = new Set([...(listed ?? []), ...hidden.slice(0, mostHidden)])
  const isListed = listed && among(work)
  const taken = await snapshots.take(
    folder,
    (path) => isIgnored(path, { workspace: { kind: 'folder', path: folder } }) || isListed?.(path) === false,
  )
  if (!taken.ok) throw new Error(`the folder cannot be read: ${taken.problem.message}`)
  const beside = [...(listed ?? [])].filter((path) => isIgnored(path, { workspace: { kind: 'folder', path: folder } }))
  const more = hidden.length - mostHidden
  return {
    digest: taken.manifest.digest,
    hidden: hidden.slice(0, mostHidden),
    beside,
    ignoring,
    moved,
    isListed: isListed ?? (() => false),
    ...(more > 0 && { unseen: `rules of .gitignore that are new hide more than ${mostHidden} files, ${more} of which nobody looked at` }),
  }
}

export interface TakenFolder {
  digest: Digest
  /** Work in it that git does not list by the rules of now. */
  hidden: string[]
  /** What git lists and is never taken: it lies in `node_modules`, or beside Assay's own files. */
  beside: string[]
  /** What decides now which of its files count, and whether that is not what it was when the session began. */
  ignoring: Ignoring
  moved: boolean
  isListed(path: string): boolean
  /** What of it nobody sees, in words. */
  unseen?: string
}

/** Most files that changed rules of what is ignored bring into the work; where there are more, it is not all seen. */
const mostHidden = 1000

/** Files that git knows or would add; undefined outside a repository. A folder among them is a repository of its own. */
async function listedByGit(folder: string): Promise<Set<string> | undefined> {
  const { code, stdout } = await new Git().run({
    cwd: folder,
    args: [...minding, ...listingArguments],
    personal: true,
    env: ownTree(folder),
  })
  return code === 0 ? new Set(pathsIn(stdout)) : undefined
}

/** Whether a path is listed, is a folder on the way to something listed, or lies in a folder that is listed as a whole. */
function among(listed: ReadonlySet<string>): (path: string) => boolean {
  const folders = new Set([...listed].flatMap(foldersAbove))
  return (path) => listed.has(path) || folders.has(path) || foldersAbove(path).some((folder) => listed.has(folder))
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'))
}

interface Since {
  folder: string
  before: Rules
  listed: ReadonlySet<string>
  moved: boolean
  ignoring: Ignoring
}

/** Files that only rules which are new or changed since `before` ignore, those rules among them. */
async function hiddenSince(snapshots: SnapshotStore, { folder, before, listed, moved, ignoring }: Since): Promise<string[]> {
  const then = (await snapshots.manifest(before.ground))?.files ?? []
  const inside = await ignoreFilesOf(snapshots, then)
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude=.gitignore']
  const unseen = pathsIn((await new Git().run({ cwd: folder, args, personal: true, env: ownTree(folder) })).stdout)
  const now = [...new Set([...listed, ...unseen, ...inside.keys()])].filter((path) => basename(path) === '.gitignore' && !isIgnored(path))
  const changed = now.filter((path) => inside.get(path) !== textAt(join(folder, path)))
  // What was work stays so, though git be told to forget it.
  const isListed = among(listed)
  const forgotten = then.flatMap(({ path }) => (!isListed(path) && existsSync(join(folder, path)) ? [path] : []))
  if (changed.length === 0 && !moved) return forgotten
  const shown = new Set(await shownBy(folder, before.ignoring ?? ignoring, inside))
  // Rules in a folder that was ignored before decide of nothing.
  const own = changed.filter((path) => inside.has(path) || listed.has(path) || shown.has(path))
  return [...new Set([...own, ...forgotten, ...[...shown].filter((path) => !isIgnored(path) && !listed.has(path)).sort()])]
}

async function ignoreFilesOf(snapshots: SnapshotStore, files: readonly SnapshotFile[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { path, digest } of files) if (basename(path) === '.gitignore') found.set(path, (await snapshots.getText(digest)) ?? '')
  return found
}
