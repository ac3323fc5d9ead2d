import { z } from 'zod'
import { canonicalJson, Digest } from '../../contract/canonical.ts'
import type { Manifest } from '../../ports/snapshots.ts'
import { sha256Of } from './folder/file.ts'
import { maxPathBytes } from './limits.ts'

const format = 'assay.snapshot/1'

/** A path that stays below the folder it is joined to, on this system. */
function isInnerPath(path: string): boolean {
  if (path === '' || path.includes('\0') || Buffer.byteLength(path) > maxPathBytes) return false
  if (process.platform === 'win32' && /[\\:]/.test(path)) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** A manifest as it is stored. Its paths are checked on every reading: a text that only looks like a manifest may come from anybody. */
const StoredManifest = z.strictObject({
  format: z.literal(format),
  files: z.array(
    z.strictObject({ path: z.string().refine(isInnerPath), size: z.int().nonnegative(), digest: Digest, executable: z.boolean() }),
  ),
  refused: z.array(z.strictObject({ path: z.string(), why: z.string() })),
})

type Tree = Pick<Manifest, 'files' | 'refused'>

/** By code unit, so that the order is the same everywhere. */
function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}

/** The one text of a tree, and the manifest whose digest is that of the text. What was refused is part of it: a file swapped for a link is another snapshot. */
export function sealManifest(tree: Tree): { manifest: Manifest; hex: string; bytes: Buffer } {
  const files = [...tree.files].sort(byPath)
  const refused = [...tree.refused].sort((a, b) => byPath(a, b) || (a.why < b.why ? -1 : 1))
  const bytes = Buffer.from(canonicalJson({ format, files, refused }))
  const hex = sha256Of(bytes)
  return { manifest: { digest: `sha256:${hex}`, files, refused }, hex, bytes }
}

/** Reads a stored manifest; undefined where the bytes are something else. */
export function readManifest(digest: Digest, bytes: Uint8Array): Manifest | undefined {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(bytes).toString())
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  const parsed = StoredManifest.safeParse(json)
  return parsed.success ? { digest, files: parsed.data.files, refused: parsed.data.refused } : undefined
}
