import { digestOf, type Digest } from '../../../contract/canonical.ts'
import type { Content } from '../../../contract/case.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { Manifest, SnapshotStore } from '../../../ports/snapshots.ts'
import { changed, handedOn } from './changed.ts'

const nothing: Pick<Manifest, 'files' | 'refused'> = { files: [], refused: [] }

/**
 * What a snapshot amounts to as a task's work. What was printed is part of it; where no file changed, it is the work. In a git worktree the digest is that of
 * the changed files alone, so that neither work of others beside them nor a link that no merge takes over touches a verdict; elsewhere it is that of the whole
 * snapshot.
 */
export async function contentOf(
  snapshots: SnapshotStore,
  spec: TaskSpec,
  taken: { snapshot: Manifest; base: Digest; output: string },
): Promise<Content> {
  const { snapshot, base, output } = taken
  const before = (await snapshots.manifest(base)) ?? nothing
  const paths = changed(before, snapshot)
  const carried = handedOn(before, snapshot, paths)
  const empty = carried.length === 0 && output.trim() === ''
  const own = spec.workspace.kind === 'worktree'
  return {
    digest: own ? ownDigest(snapshot, carried, output) : wholeDigest(snapshot, base, paths, output),
    snapshot: snapshot.digest,
    base,
    empty,
    paths,
    output,
  }
}

function wholeDigest(snapshot: Manifest, base: Digest, paths: readonly string[], output: string): Digest {
  if (paths.length === 0) return digestOf({ base, output })
  return output.trim() === '' ? snapshot.digest : digestOf({ snapshot: snapshot.digest, output })
}

function ownDigest(snapshot: Manifest, paths: readonly string[], output: string): Digest {
  if (paths.length === 0) return digestOf({ output })
  const files = new Map(snapshot.files.map(({ path, digest, executable }) => [path, { digest, executable }]))
  return digestOf({ files: paths.map((path) => [path, files.get(path) ?? null]), ...(output.trim() !== '' && { output }) })
}
