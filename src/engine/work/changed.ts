import type { Manifest } from '../../ports/snapshots.ts'

/** Paths that were added, changed or deleted between two snapshots, entries that are no plain files included; sorted. */
export function changedPaths(base: Manifest | undefined, now: Manifest): string[] {
  const before = marks(base)
  const after = marks(now)
  const changed = new Set<string>()
  for (const [path, mark] of after) if (before.get(path) !== mark) changed.add(path)
  for (const path of before.keys()) if (!after.has(path)) changed.add(path)
  return [...changed].sort()
}

function marks(manifest: Manifest | undefined): Map<string, string> {
  const all = new Map<string, string>()
  for (const file of manifest?.files ?? []) all.set(file.path, `${file.digest} ${file.executable}`)
  for (const refused of manifest?.refused ?? []) all.set(refused.path, `refused ${refused.why}`)
  return all
}
