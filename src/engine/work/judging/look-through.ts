import type { Digest } from '../../../contract/canonical.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'

/** What is looked for in the files of one snapshot. */
export interface Wanted {
  /** Files whose lines are counted, with the texts that are looked for in each. */
  within: ReadonlyMap<string, ReadonlySet<string>>
  /** Texts that may stand in any file. */
  anywhere: ReadonlySet<string>
}

export interface Seen {
  /** Lines of the files that were asked about. */
  lines: ReadonlyMap<string, number>
  has(path: string, text: string): boolean
  /** A file in which the text stands. */
  whereIs(text: string): string | undefined
}

const newline = 10

/**
 * Looks through files byte by byte, whatever their size and whatever is in them, each at most once. No more than a piece of one of them is in memory.
 * Files that nobody named are opened only while a text that may stand anywhere is not found.
 */
export async function lookThrough(snapshots: SnapshotStore, snapshot: string, paths: readonly string[], wanted: Wanted): Promise<Seen> {
  const lines = new Map<string, number>()
  const found = new Map<string, Set<string>>()
  const places = new Map<string, string>()
  const order = [...paths.filter((path) => wanted.within.has(path)), ...paths.filter((path) => !wanted.within.has(path))]
  for (const path of order) {
    const own = wanted.within.get(path)
    const open = [...wanted.anywhere].filter((text) => !places.has(text))
    if (!own && open.length === 0) break
    const look = lookAt([...new Set([...(own ?? []), ...open])])
    if (!(await snapshots.pour(snapshot as Digest, path, look.feed))) continue
    lines.set(path, look.lines())
    found.set(path, look.found)
    for (const text of open) if (look.found.has(text)) places.set(text, path)
  }
  return { lines, has: (path, text) => found.get(path)?.has(text) ?? false, whereIs: (text) => places.get(text) }
}

/** One file as it streams by: its lines, and which of the texts are in it, also across two pieces. */
function lookAt(texts: readonly string[]) {
  const needles = new Map(texts.map((text) => [text, Buffer.from(text)]))
  const overlap = Math.max(0, ...Array.from(needles.values(), (needle) => needle.length - 1))
  const found = new Set<string>()
  let tail = Buffer.alloc(0)
  let breaks = 0
  let last = 0
  const feed = async (piece: Uint8Array): Promise<void> => {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) breaks += 1
    last = bytes.at(-1) ?? last
    if (needles.size === 0) return
    const window = tail.length === 0 ? bytes : Buffer.concat([tail, bytes])
    for (const [text, needle] of needles) {
      if (!window.includes(needle)) continue
      found.add(text)
      needles.delete(text)
    }
    // A copy: the piece is used again for what follows.
    tail = Buffer.from(window.subarray(Math.max(0, window.length - overlap)))
  }
  return { feed, found, lines: () => (last === newline ? breaks : breaks + 1) }
}
