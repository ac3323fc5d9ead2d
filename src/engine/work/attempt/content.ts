import { digestOf, type Digest } from '../../../contract/canonical.ts'
import type { Content } from '../../../contract/case.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { Manifest, SnapshotStore } from '../../../ports/snapshots.ts'
import { changed } from './changed.ts'

const nothing: Pick<Manifest, 'files' | 'refused'> = { files: [], refused: [] }

/**
 * What a snapshot amounts to as a task's work. What was printed is part of it; where no file changed, it is the work. In a git worktree the digest is that of
 * the changed files alone, so that work of others beside them does not touch a verdict; elsewhere it is that of the whole snapshot.
 */
export async function contentOf(
  snapshots: SnapshotStore,
  spec: TaskSpec,
  taken: { snapshot: Manifest; base: Digest; output: string },
): Promise<Content> {
  const { snapshot, base, output } = taken
  const before = (await snapshots.manifest(base)) ?? nothing
  const paths = changed(before, snapshot)
  const empty = paths.length === 0 && output.trim() === ''
  return { digest: digestFor(spec, snapshot, base, paths, output), snapshot: snapshot.digest, base, empty, paths, output }
}

function digestFor(spec: TaskSpec, snapshot: Manifest, base: Digest, paths: readonly string[], output: string): Digest {
  const own = spec.workspace.kind === 'worktree'
  if (paths.length === 0) return digestOf(own ? { output } : { base, output })
  const printed = output.trim() === '' ? {} : { output }
  if (!own) return printed.output === undefined ? snapshot.digest : digestOf({ snapshot: snapshot.digest, ...printed })
  const files = new Map(snapshot.files.map(({ path, digest, executable }) => [path, { digest, executable }]))
  const refused = new Map(snapshot.refused.map(({ path, why }) => [path, { refused: why }]))
  return digestOf({ files: paths.map((path) => [path, files.get(path) ?? refused.get(path) ?? null]), ...printed })
}
