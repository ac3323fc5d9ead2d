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

/**
 * Of the changed paths, those whose change can be handed on: a plain file came, went or changed. A link, pipe or device is no work, and neither is what it
 * stands in the place of: nobody can review it, and no merge takes it over.
 */
export function handedOn(base: Tree, now: Tree, paths: readonly string[]): string[] {
  const before = new Set(base.files.map(({ path }) => path))
  const after = new Set(now.files.map(({ path }) => path))
  const refused = new Set(now.refused.map(({ path }) => path))
  return paths.filter((path) => after.has(path) || (before.has(path) && !isCovered(path, refused)))
}

/** The path itself or a folder on the way to it. */
function isCovered(path: string, refused: ReadonlySet<string>): boolean {
  for (let cut = path.length; cut !== -1; cut = path.lastIndexOf('/', cut - 1)) if (refused.has(path.slice(0, cut))) return true
  return false
}

/** One text for each entry as it stands: equal texts are unchanged entries. No path contains NUL. */
function tokensOf(tree: Tree): Map<string, string> {
  const tokens = new Map<string, string>()
  for (const { path, digest, executable } of tree.files) tokens.set(`${path}\0file\0${digest}\0${executable}`, path)
  for (const { path, why } of tree.refused) tokens.set(`${path}\0refused\0${why}`, path)
  return tokens
}
