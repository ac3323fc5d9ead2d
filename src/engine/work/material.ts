import type { Digest } from '../../contract/canonical.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'

/** Files above this size are named to judges, not shown; they read them in the snapshot. */
const maxTextBytes = 256 * 1024

/** The text of a snapshot's file; undefined where it is missing, binary or too large to show. */
export async function textOf(snapshots: SnapshotStore, snapshot: string, path: string): Promise<string | undefined> {
  const bytes = await snapshots.read(snapshot as Digest, path)
  if (!bytes || bytes.byteLength > maxTextBytes || bytes.includes(0)) return undefined
  return Buffer.from(bytes).toString('utf8')
}

/** The work as text, file by file, in the order given; what cannot be shown is named with its size. */
export async function workFiles(
  snapshots: SnapshotStore,
  snapshot: string,
  paths: readonly string[],
): Promise<{ path: string; text: string }[]> {
  const manifest = await snapshots.manifest(snapshot as Digest)
  const files: { path: string; text: string }[] = []
  for (const path of paths) {
    const entry = manifest?.files.find((file) => file.path === path)
    const refused = manifest?.refused.find((one) => one.path === path)
    if (refused) files.push({ path, text: `[not a plain file: ${refused.why}]` })
    else if (!entry) files.push({ path, text: '[deleted]' })
    else files.push({ path, text: (await textOf(snapshots, snapshot, path)) ?? `[${entry.size} bytes, not shown: binary or large]` })
  }
  return files
}
