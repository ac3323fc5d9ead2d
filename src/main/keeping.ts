import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkSignature, openSigner, ownPublicKey, publicPem, readPublicKey } from '../adapters/signing/key.ts'
import { openInventory } from '../adapters/snapshots/inventory.ts'
import { openSnapshotStore } from '../adapters/snapshots/store.ts'
import { backUpJournal } from '../adapters/sqlite/backup.ts'
import { openSqliteJournal } from '../adapters/sqlite/journal.ts'
import type { Keeping } from '../engine/keep/keeping.ts'
import { StoreFault } from '../engine/store-fault.ts'
import { engineViews } from '../engine/views/tasks.ts'
import { tokenPath } from './token-path.ts'

const journalOf = (home: string): string => join(home, 'assay.db')
const objectsOf = (home: string): string => join(home, 'objects')
/** Most that a record may take. One that is larger is not read, and what it names is not known, so nothing may be cleared away. */
const maxRecordBytes = 64 * 1024 * 1024

/** Keys live beside the owner's token: hidden from sandboxed workers with it. */
export function openKeeping(env: NodeJS.ProcessEnv): Keeping {
  const keys = dirname(tokenPath(env))
  const objects = (home: string) => ({
    snapshots: openSnapshotStore({ folder: objectsOf(home) }),
    inventory: openInventory(objectsOf(home)),
  })
  return {
    inventory: (home) => openInventory(objectsOf(home)),
    records: (home) => recordsIn(join(home, 'work')),
    signer: () => openSigner(keys),
    ownKey: () => ownPublicKey(keys),
    readKey: readPublicKey,
    writeKey: publicPem,
    check: checkSignature,
    async copyJournal(from, to) {
      mkdirSync(to, { recursive: true })
      await backUpJournal(journalOf(from), journalOf(to))
    },
    objects,
    async open(home) {
      const journal = await openSqliteJournal({ path: journalOf(home), views: engineViews })
      return { journal, ...objects(home), close: () => journal.close() }
    },
  }
}

/** Records of workspaces lie beside the workspaces; they name what an open task is measured against. */
function* recordsIn(folder: string): Generator<string> {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    const stat = entry.isFile() ? statSync(path, { throwIfNoEntry: false }) : undefined
    if (stat && stat.size > maxRecordBytes) throw new StoreFault(`${path} is larger than ${maxRecordBytes} bytes: nothing is cleared away`)
    if (stat) yield readFileSync(path, 'utf8')
  }
}
