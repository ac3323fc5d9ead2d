import type { Manifest } from '../../../ports/snapshots.ts'

type Tree = Pick<Manifest, 'files' | 'refused'>

/** Paths that were added, deleted or changed between two snapshots (content, executable bit, or what was refused there and why), sorted. */
export function changed(base: Tree, now: Tree): string[] {
  const before = tokensOf(base)
  const after = tokensOf(now)
  const paths = new Set<string>()
  for (const [token, path] of before) if (!after.has(token)) paths.add(path)
  for (const [token, path] of after) if (!before.has(token)) paths.add(path)
  return [...paths].sort()
}

/** One text for each entry as it stands: equal texts are unchanged entries. No path contains NUL. */
function tokensOf(tree: Tree): Map<string, string> {
  const tokens = new Map<string, string>()
  for (const { path, digest, executable } of tree.files) tokens.set(`${path}\0file\0${digest}\0${executable}`, path)
  for (const { path, why } of tree.refused) tokens.set(`${path}\0refused\0${why}`, path)
  return tokens
}
