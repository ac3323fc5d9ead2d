import type { Digest } from '../../../contract/canonical.ts'
import { protectMatcher } from '../../../contract/checks/glob.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { SnapshotFile, SnapshotStore } from '../../../ports/snapshots.ts'

/** The snapshot that a check runs on, and what was found and undone in it. */
export interface Protected {
  snapshot: Digest
  findings: string[]
}

/**
 * Puts every file that the globs name back to what the base has: edited and deleted ones are restored, added ones are left out.
 * Each of them is a finding. Nothing is written but a snapshot made of files that are stored already.
 */
export async function withProtected(
  snapshots: SnapshotStore,
  snapshot: Digest,
  base: Digest,
  globs: readonly string[],
): Promise<Protected> {
  const [now, before] = await Promise.all([snapshots.manifest(snapshot), snapshots.manifest(base)])
  if (!now || !before) throw new Error(`a snapshot to be checked is missing: ${now ? base : snapshot}`)
  const guarded = protectMatcher(globs)
  const original = new Map(before.files.filter(({ path }) => guarded(path)).map((file) => [file.path, file]))
  const findings: string[] = []
  const kept = now.files.filter((file) => {
    if (!guarded(file.path)) return true
    const was = original.get(file.path)
    if (was && sameFile(was, file)) return true
    findings.push(was ? `${visible(file.path)} is protected and was edited` : `${visible(file.path)} was added where files are protected`)
    return false
  })
  const present = new Set(kept.map(({ path }) => path))
  const restored = [...original.values()].filter(({ path }) => !present.has(path))
  const edited = new Set(now.files.map(({ path }) => path))
  for (const { path } of restored) if (!edited.has(path)) findings.push(`${visible(path)} is protected and was deleted`)
  for (const { path } of now.refused) if (guarded(path)) findings.push(`${visible(path)} is protected and is no plain file any more`)
  if (findings.length === 0) return { snapshot, findings }
  const restoredPaths = new Set(restored.map(({ path }) => path))
  const files = [...kept.filter(({ path }) => !standsInTheWay(path, restoredPaths)), ...restored]
  return { snapshot: await snapshots.compose(files), findings: findings.sort() }
}

function sameFile(one: SnapshotFile, other: SnapshotFile): boolean {
  return one.digest === other.digest && one.executable === other.executable
}

/** A file where a restored one needs a folder, or below a restored one's name. */
function standsInTheWay(path: string, restored: ReadonlySet<string>): boolean {
  for (const one of restored) if (one.startsWith(`${path}/`) || path.startsWith(`${one}/`)) return true
  return false
}
