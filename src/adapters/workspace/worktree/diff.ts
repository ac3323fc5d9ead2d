import { WorkspaceFault } from '../fault.ts'
import type { Digest } from '../../../contract/canonical.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import { isIgnored } from '../ignored.ts'
import { withDraft } from './git/draft.ts'
import { Git } from './git/git.ts'
import { findRepository } from './git/repository.ts'
import { snapshotOf } from './join/tree.ts'

/** Two commits of the repository at `cwd` as snapshots, as `base..head`, `base...head` (since they parted) or `base` (until HEAD) names them. */
export async function snapshotRange(
  snapshots: SnapshotStore,
  cwd: string,
  range: string,
  home: string,
): Promise<{ base: Digest; snapshot: Digest; commits: { base: string; head: string } }> {
  const repository = await findRepository(new Git(), cwd)
  const [, from = '', dots = '..', to = ''] = /^(.*?)(?:(\.{2,3})(.*))?$/s.exec(range) ?? []
  const commit = async (name: string) => {
    const { code, stdout } = await repository.git.run({
      cwd,
      args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name === '' ? 'HEAD' : name}^{commit}`],
      personal: true,
    })
    if (code !== 0) throw new WorkspaceFault('not_found', `there is no commit ${JSON.stringify(name)} in the repository at ${cwd}`)
    return stdout.trim()
  }
  const head = await commit(to)
  let base = await commit(from)
  if (dots === '...') base = await repository.git.line({ cwd, args: ['merge-base', base, head], personal: true })
  const ignore = (path: string) => isIgnored(path, { workspace: { kind: 'worktree' } })
  return withDraft(repository, home, async (draft) => ({
    base: await snapshotOf(draft, snapshots, base, '', ignore),
    snapshot: await snapshotOf(draft, snapshots, head, '', ignore),
    commits: { base, head },
  }))
}
