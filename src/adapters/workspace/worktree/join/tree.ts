import { mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Digest } from '../../../../contract/canonical.ts'
import type { SnapshotStore } from '../../../../ports/snapshots.ts'
import { orFault, WorkspaceFault } from '../../fault.ts'
import type { Draft } from '../git/draft.ts'
import type { Changes } from './changes.ts'

/** Files written to the disk at once on their way into the repository. */
const batchSize = 500

/** The tree of `commit` with the changes in it, byte for byte: nothing that a file in the tree says about other files is asked. */
export async function changedTree(
  draft: Draft,
  snapshots: SnapshotStore,
  from: { commit: string; prefix: string; snapshot: Digest },
  changes: Changes,
): Promise<string> {
  const blobs = await storeBlobs(draft, snapshots, from.snapshot, changes)
  const inTree = (path: string) => (from.prefix === '' ? path : `${from.prefix}/${path}`)
  const nothing = '0'.repeat(from.commit.length)
  const lines = [
    ...changes.removed.map((path) => `0 ${nothing}\t${inTree(path)}\0`),
    ...changes.put.map((file) => `${file.executable ? '100755' : '100644'} ${blobs.get(file.digest)}\t${inTree(file.path)}\0`),
  ]
  await draft.text(['read-tree', from.commit])
  if (lines.length > 0) {
    const workTree = await emptyFolder(draft, 'nothing')
    await draft.text(['update-index', '-z', '--add', '--replace', '--index-info'], { stdin: lines.join(''), workTree })
  }
  return draft.line(['write-tree'])
}

async function storeBlobs(draft: Draft, snapshots: SnapshotStore, snapshot: Digest, { put }: Changes): Promise<Map<Digest, string>> {
  const blobs = new Map<Digest, string>()
  const wanted = [...new Map(put.map((file) => [file.digest, file])).values()]
  for (let from = 0; from < wanted.length; from += batchSize) {
    const batch = wanted.slice(from, from + batchSize)
    const folder = await emptyFolder(draft, 'blobs')
    for (const [at, file] of batch.entries()) {
      const bytes = await snapshots.read(snapshot, file.path)
      if (!bytes) throw new WorkspaceFault('not_found', `snapshot ${snapshot} has no ${JSON.stringify(file.path)}`)
      writeFileSync(join(folder, String(at)), bytes)
    }
    const stdin = batch.map((_, at) => `${join(folder, String(at))}\n`).join('')
    const ids = (await draft.text(['hash-object', '-w', '--no-filters', '--stdin-paths'], { stdin })).trim().split('\n')
    for (const [at, file] of batch.entries()) blobs.set(file.digest, ids[at] ?? '')
    await rm(folder, { recursive: true })
  }
  return blobs
}

/** Writes the files of a tree, or of the folder `prefix` in it, to a private folder: links as links, bytes as they are. */
export async function checkOut(draft: Draft, treeish: string, prefix: string): Promise<string> {
  const folder = await emptyFolder(draft, 'files')
  const inner = prefix === '' ? `${treeish}^{tree}` : `${treeish}:${prefix}`
  const tree = await draft.run(['rev-parse', '--verify', '--quiet', inner])
  if (tree.code !== 0) return folder
  await draft.text(['read-tree', tree.stdout.trim()])
  await draft.text(['checkout-index', '--all', '--force', '--quiet'], { workTree: folder })
  return folder
}

/** What a tree's files are as a snapshot: the same as one taken of a workspace that holds them. */
export async function snapshotOf(
  draft: Draft,
  snapshots: SnapshotStore,
  treeish: string,
  prefix: string,
  ignore: (path: string) => boolean,
): Promise<Digest> {
  const folder = await checkOut(draft, treeish, prefix)
  try {
    return orFault(await snapshots.take(folder, ignore)).manifest.digest
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function emptyFolder(draft: Draft, name: string): Promise<string> {
  const folder = join(draft.folder, name)
  await rm(folder, { recursive: true, force: true })
  mkdirSync(folder)
  return folder
}
