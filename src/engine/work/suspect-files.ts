import { setImmediate as breathe } from 'node:timers/promises'
import type { Digest } from '../../contract/canonical.ts'
import type { Content } from '../../contract/case.ts'
import { textScan, unlooked } from '../../core/verdict/suspicion.ts'
import type { SnapshotFile, SnapshotStore } from '../../ports/snapshots.ts'

/** Bytes of changed files that are looked through in all, the smallest file first: matching is slow beside reading. */
const maxLookedBytes = 32 * 1024 * 1024
/** Bytes that are matched at a time; others get their turn in between. */
const pieceBytes = 64 * 1024

/**
 * Text in changed files that addresses the reviewer or looks like a verdict, whatever the file's size, place in the list or bytes. Where something could not
 * be looked through, that is a finding too, and every seat is asked.
 */
export async function suspectFiles(snapshots: SnapshotStore, content: Content, maxBytes = maxLookedBytes): Promise<string[]> {
  if (content.paths.length === 0) return []
  const manifest = await snapshots.manifest(content.snapshot as Digest)
  const changed = new Set(content.paths)
  const refused = (manifest?.refused ?? []).filter(({ path }) => changed.has(path))
  const files = (manifest?.files ?? []).filter(({ path }) => changed.has(path)).sort((a, b) => a.size - b.size)
  const findings = refused.flatMap(({ path, why }) => {
    const scan = textScan(path)
    scan.feed(why)
    return [unlooked(path, 'because it is no plain file'), ...scan.findings()]
  })
  let left = maxBytes
  for (const [index, file] of files.entries()) {
    if (file.size > left) {
      const rest = files.slice(index)
      const bytes = rest.reduce((sum, { size }) => sum + size, 0)
      const more = rest.length === 1 ? '' : `, like ${rest.length - 1} more files`
      return [unlooked(file.path, `because the change is large${more} (${bytes} bytes)`), ...findings]
    }
    left -= file.size
    findings.push(...(await suspectIn(snapshots, content.snapshot, file)))
  }
  return findings
}

async function suspectIn(snapshots: SnapshotStore, snapshot: string, { path }: SnapshotFile): Promise<string[]> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let scan: ReturnType<typeof textScan> | undefined
  await snapshots.pour(snapshot as Digest, path, async (piece) => {
    scan ??= textScan(path, { binary: piece.includes(0) })
    for (let at = 0; at < piece.length; at += pieceBytes) {
      if (at > 0) await breathe()
      scan.feed(decoder.decode(piece.subarray(at, at + pieceBytes), { stream: true }))
    }
  })
  return scan?.findings() ?? []
}
