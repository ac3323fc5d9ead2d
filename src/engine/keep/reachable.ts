import type { Digest } from '../../contract/canonical.ts'
import type { ObjectInventory } from '../../ports/inventory.ts'
import type { Journal } from '../../ports/journal.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'
import { walkJournal } from '../audit/walk.ts'
import { StoreFault } from '../store-fault.ts'

const digests = /sha256:[0-9a-f]{64}/g
/** A digest may lie across two chunks. */
const longest = 'sha256:'.length + 64

export interface KeptParts {
  journal: Journal
  snapshots: Pick<SnapshotStore, 'manifest'>
  inventory: ObjectInventory
}

/**
 * Every object that an event, or one of the further texts, could lead to. Generous on purpose: any digest in an event counts, and so
 * does any in an object that is named so; the files of a snapshot are kept but not searched, because nothing follows from them.
 */
export async function reachableObjects({ journal, snapshots, inventory }: KeptParts, further: Iterable<string>): Promise<Set<Digest>> {
  const reached = new Set<Digest>()
  const waiting: Digest[] = []
  const name = (digest: string) => {
    if (reached.has(digest)) return
    reached.add(digest)
    waiting.push(digest)
  }
  const search = (text: string) => {
    for (const [digest] of text.matchAll(digests)) name(digest)
  }
  const whole = await walkJournal(journal, (event) => search(JSON.stringify(event.data)))
  if (!whole) throw new StoreFault('the journal cannot be read to its end: nothing is cleared away or copied. See `assay audit verify`')
  for (const text of further) search(text)
  for (let digest = waiting.pop(); digest !== undefined; digest = waiting.pop()) {
    const manifest = await snapshots.manifest(digest)
    if (manifest) for (const file of manifest.files) reached.add(file.digest)
    else await searchObject(inventory, digest, search)
  }
  return reached
}

async function searchObject(inventory: ObjectInventory, digest: Digest, search: (text: string) => void): Promise<void> {
  let rest = ''
  await inventory.pour(digest, async (chunk) => {
    const text = rest + Buffer.from(chunk).toString('latin1')
    search(text)
    rest = text.slice(-longest)
  })
}
