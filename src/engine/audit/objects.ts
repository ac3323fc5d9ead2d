import type { Digest } from '../../contract/canonical.ts'
import type { BrokenLink } from '../../contract/chain.ts'
import type { ObjectInventory } from '../../ports/inventory.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'
import type { Reference } from './references.ts'

/** Where an object is first named. */
export interface Naming extends Reference {
  stream: string
  version: number
  position: number
}

export interface ObjectProof {
  objects: number
  bytes: number
  breaks: BrokenLink[]
}

const maxBreaks = 1000

/** Proves every stored object against its name, and that everything that events name is there, down to the files of snapshots. */
export async function proveObjects(
  store: Pick<SnapshotStore, 'manifest' | 'getText'>,
  inventory: ObjectInventory,
  namings: Iterable<Naming>,
): Promise<ObjectProof> {
  const proof: ObjectProof = { objects: 0, bytes: 0, breaks: [] }
  const report = (found: BrokenLink) => {
    if (proof.breaks.length < maxBreaks) proof.breaks.push(found)
  }
  const stray = (place: string) =>
    report({ stream: `objects/${place}`, version: 0, position: null, problem: 'this is no object: somebody put it there' })
  const stored = new Map<string, string | undefined>()
  for await (const { digest, bytes } of inventory.list(stray)) {
    proof.objects += 1
    proof.bytes += bytes
    if (stored.has(digest)) continue
    stored.set(digest, await inventory.problem(digest))
  }
  const explained = new Set<string>()
  const seen = new Set<string>()
  for (const naming of namings) {
    const { stream, version, position } = naming
    for await (const digest of needed(store, naming, stored, seen)) {
      const problem = stored.has(digest) ? stored.get(digest) : 'it is not in the store'
      if (problem === undefined) continue
      explained.add(digest)
      report({ stream, version, position, problem: `object ${digest}, which this event needs: ${problem}` })
    }
  }
  for (const [digest, problem] of stored)
    if (problem !== undefined && !explained.has(digest)) report({ stream: `object ${digest}`, version: 0, position: null, problem })
  return proof
}

/** The digests that a reference needs, each once; those that are not good are not looked into. */
async function* needed(
  store: Pick<SnapshotStore, 'manifest' | 'getText'>,
  { kind, digest }: Reference,
  stored: ReadonlyMap<string, string | undefined>,
  seen: Set<string>,
): AsyncGenerator<string> {
  const first = !seen.has(`${kind} ${digest}`)
  seen.add(`${kind} ${digest}`)
  if (!first) return
  yield digest
  if (kind === 'bytes' || !stored.has(digest) || stored.get(digest) !== undefined) return
  if (kind === 'snapshot') {
    for (const file of (await store.manifest(digest as Digest))?.files ?? [])
      yield* needed(store, { kind: 'bytes', digest: file.digest }, stored, seen)
    return
  }
  const parts = JSON.parse((await store.getText(digest as Digest)) ?? '{}') as { pieces?: string[]; before?: string | null }
  if (kind === 'plan') for (const piece of parts.pieces ?? []) yield* needed(store, { kind: 'bytes', digest: piece }, stored, seen)
  // A conversation is a chain of up to thousands of pieces: followed in a loop, not by calling itself.
  for (let before = parts.before ?? null; kind === 'conversation' && before !== null && !seen.has(`conversation ${before}`); ) {
    seen.add(`conversation ${before}`)
    yield before
    if (!stored.has(before) || stored.get(before) !== undefined) return
    before = (JSON.parse((await store.getText(before as Digest)) ?? '{}') as { before?: string | null }).before ?? null
  }
}
