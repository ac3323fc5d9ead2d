import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isIgnored } from '../../adapters/workspace/ignored.ts'
import { Git } from '../../adapters/workspace/worktree/git/git.ts'
import { listingArguments } from '../../adapters/workspace/worktree/git/quiet.ts'
import type { Digest } from '../../contract/canonical.ts'
import type { SnapshotFile, SnapshotStore } from '../../ports/snapshots.ts'
import { ownTree } from './look.ts'

/**
 * A folder as an agent left it: of a git repository what git does not ignore, elsewhere everything but packages. What was not ignored by the
 * rules of `before` is the agent's work whatever it wrote into a `.gitignore` since, and so is what lies in a repository inside this one.
 */
export async function takeFolder(snapshots: SnapshotStore, folder: string, before?: Digest): Promise<TakenFolder> {
  const listed = await listedByGit(folder)
  const hidden = listed && before ? await hiddenSince(snapshots, { folder, ground: before, listed }) : []
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
  isListed(path: string): boolean
  /** What of it nobody sees, in words. */
  unseen?: string
}

/** Most files that changed rules of what is ignored bring into the work; where there are more, it is not all seen. */
const mostHidden = 1000

/** Files that git knows or would add; undefined outside a repository. A folder among them is a repository of its own. */
async function listedByGit(folder: string): Promise<Set<string> | undefined> {
  const { code, stdout } = await new Git().run({ cwd: folder, args: listingArguments, personal: true, env: ownTree(folder) })
  return code === 0 ? new Set(pathsIn(stdout)) : undefined
}

const pathsIn = (stdout: string): string[] => stdout.split('\0').flatMap((path) => (path === '' ? [] : [path.replace(/\/$/, '')]))

/** Whether a path is listed, is a folder on the way to something listed, or lies in a folder that is listed as a whole. */
function among(listed: ReadonlySet<string>): (path: string) => boolean {
  const folders = new Set([...listed].flatMap(foldersAbove))
  return (path) => listed.has(path) || folders.has(path) || foldersAbove(path).some((folder) => listed.has(folder))
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'))
}

/** Files that only rules which are new or changed since `ground` ignore, those rules among them. */
async function hiddenSince(
  snapshots: SnapshotStore,
  { folder, ground, listed }: { folder: string; ground: Digest; listed: ReadonlySet<string> },
): Promise<string[]> {
  const then = (await snapshots.manifest(ground))?.files ?? []
  const before = await ignoreFilesOf(snapshots, then)
  const git = async (...args: string[]) =>
    pathsIn((await new Git().run({ cwd: folder, args, personal: true, env: ownTree(folder) })).stdout)
  const unseen = await git('ls-files', '-z', '--others', '--ignored', '--exclude=.gitignore')
  const now = [...new Set([...listed, ...unseen, ...before.keys()])].filter((path) => basename(path) === '.gitignore' && !isIgnored(path))
  const changed = now.filter((path) => before.get(path) !== textAt(join(folder, path)))
  // What was work stays so, though git be told to forget it.
  const isListed = among(listed)
  const forgotten = then.flatMap(({ path }) => (!isListed(path) && existsSync(join(folder, path)) ? [path] : []))
  if (changed.length === 0) return forgotten
  const rules = [...before].sort(([one], [other]) => depth(one) - depth(other)).flatMap(([path, text]) => rulesFrom(path, text))
  const shown = await git('ls-files', '-z', '--others', ...rules.map((rule) => `--exclude=${rule}`))
  return [...new Set([...changed, ...forgotten, ...shown.filter((path) => !isIgnored(path) && !listed.has(path)).sort()])]
}

async function ignoreFilesOf(snapshots: SnapshotStore, files: readonly SnapshotFile[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { path, digest } of files) if (basename(path) === '.gitignore') found.set(path, (await snapshots.getText(digest)) ?? '')
  return found
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Gone, or no file any more: either way it is not what it was.
    return undefined
  }
}

const depth = (path: string): number => path.split('/').length

/** The rules of one `.gitignore` as seen from the root: with a slash they hold in its folder, without one at any depth below. */
function rulesFrom(path: string, text: string): string[] {
  const folder = dirname(path) === '.' ? '' : `/${dirname(path).replaceAll(/[\\*?[\]!# ]/g, '\\$&')}`
  return text.split('\n').flatMap((line) => {
    const rule = line.replace(/\r$/, '').replace(/(?<!\\) +$/, '')
    if (rule === '' || rule.startsWith('#')) return []
    const [not, pattern] = rule.startsWith('!') ? ['!', rule.slice(1)] : ['', rule]
    const anchored = pattern.slice(0, -1).includes('/')
    if (anchored) return [`${not}${folder}/${pattern.replace(/^\//, '')}`]
    return [folder === '' ? `${not}${pattern}` : `${not}${folder}/**/${pattern}`]
  })
}
