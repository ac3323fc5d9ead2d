import { isIgnored } from '../../adapters/workspace/ignored.ts'
import { Git } from '../../adapters/workspace/worktree/git/git.ts'
import { snapshotRange } from '../../adapters/workspace/worktree/diff.ts'
import type { Digest } from '../../contract/canonical.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'

/** A folder as an agent left it: of a git repository what git does not ignore, elsewhere everything but packages. */
export async function takeFolder(snapshots: SnapshotStore, folder: string): Promise<Digest> {
  const listed = await listedByGit(folder)
  const taken = await snapshots.take(
    folder,
    (path) => isIgnored(path, { workspace: { kind: 'folder', path: folder } }) || listed?.has(path) === false,
  )
  if (!taken.ok) throw new Error(`the folder cannot be read: ${taken.problem.message}`)
  return taken.manifest.digest
}

/** Files that git knows or would add, and the folders they are in; undefined outside a repository. */
async function listedByGit(folder: string): Promise<Set<string> | undefined> {
  // Files of the repository say what is ignored; what only this clone says, an agent can write unseen.
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-per-directory=.gitignore']
  const { code, stdout } = await new Git().run({ cwd: folder, args, personal: true })
  if (code !== 0) return undefined
  const found = new Set<string>()
  for (const path of stdout.split('\0')) {
    if (path === '') continue
    const parts = path.split('/')
    for (let length = 1; length <= parts.length; length += 1) found.add(parts.slice(0, length).join('/'))
  }
  return found
}

/** The last commit, as what an agent began with where nobody saw it begin; nothing at all outside a repository. */
export async function lastCommit(snapshots: SnapshotStore, folder: string, drafts: string): Promise<Digest> {
  try {
    return (await snapshotRange(snapshots, folder, 'HEAD..HEAD', drafts)).base
  } catch (error) {
    if ((error as { name?: string }).name === 'WorkspaceFault') return snapshots.compose([])
    throw error
  }
}
