import type { Digest } from '../../contract/canonical.ts'
import type { Manifest, SnapshotStore } from '../../ports/snapshots.ts'

/** Files above this size are named to judges, not shown; they read them in the snapshot. */
const maxTextBytes = 256 * 1024
/** Bytes of files that are kept while one verdict's evidence is looked up. */
const maxKeptBytes = 32 * 1024 * 1024

/** The text of a snapshot's file; undefined where it is binary. */
async function textOf(snapshots: SnapshotStore, snapshot: string, path: string): Promise<string | undefined> {
  const bytes = await snapshots.read(snapshot as Digest, path)
  return bytes && !bytes.includes(0) ? Buffer.from(bytes).toString('utf8') : undefined
}

/** Reads files of one snapshot as text, each once as long as they are not too many; undefined where one is missing, binary or too large to show. */
export function textReader(
  snapshots: SnapshotStore,
  snapshot: string,
  manifest: Manifest | undefined,
): (path: string) => Promise<string | undefined> {
  const sizes = new Map(manifest?.files.map((file) => [file.path, file.size]))
  const kept = new Map<string, Promise<string | undefined>>()
  let left = maxKeptBytes
  return async (path) => {
    const size = sizes.get(path)
    if (size === undefined || size > maxTextBytes) return undefined
    const text = kept.get(path) ?? textOf(snapshots, snapshot, path)
    if (!kept.has(path) && size <= left) {
      kept.set(path, text)
      left -= size
    }
    return text
  }
}

/**
 * The work as text, file by file, in the order given; what cannot be shown is named with its size. `budget` is how many bytes are
 * shown in all: a file that does not fit is not read, and named too.
 */
export async function workFiles(
  snapshots: SnapshotStore,
  snapshot: string,
  paths: readonly string[],
  budget = Number.POSITIVE_INFINITY,
): Promise<{ path: string; text: string }[]> {
  if (paths.length === 0) return []
  const manifest = await snapshots.manifest(snapshot as Digest)
  const sizes = new Map(manifest?.files.map((file) => [file.path, file.size]))
  const refused = new Map(manifest?.refused.map((one) => [one.path, one.why]))
  const files: { path: string; text: string }[] = []
  let left = budget
  for (const path of paths) {
    const size = sizes.get(path)
    if (refused.has(path)) files.push({ path, text: `[not a plain file: ${refused.get(path)}]` })
    else if (size === undefined) files.push({ path, text: '[deleted]' })
    else if (size > left) files.push({ path, text: `[${size} bytes, left out because the prompt is limited; read it in the snapshot]` })
    else {
      const text = size > maxTextBytes ? undefined : await textOf(snapshots, snapshot, path)
      if (text !== undefined) left -= size
      files.push({ path, text: text ?? `[${size} bytes, not shown: binary or large]` })
    }
  }
  return files
}
