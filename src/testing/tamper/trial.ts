import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openInventory } from '../../adapters/snapshots/inventory.ts'
import { openSnapshotStore } from '../../adapters/snapshots/store.ts'
import { openSqliteJournal } from '../../adapters/sqlite/journal.ts'
import type { Checkpoint } from '../../contract/attest/checkpoint.ts'
import { type AuditReport, unopenable, verifyEverything } from '../../engine/audit/verify.ts'
import { engineViews } from '../../engine/views/tasks.ts'
import { JournalFault } from '../../ports/journal.ts'
import type { Dice } from './dice.ts'
import { fileMutations, objectMutations, packMutations } from './files.ts'
import { forgeries } from './forgeries.ts'
import type { EventRow, Mutation } from './mutation.ts'
import { rowMutations, viewMutations } from './rows.ts'

/** Every way in which a stored state is damaged, by name. */
export const mutations: Readonly<Record<string, Mutation>> = {
  ...rowMutations,
  ...viewMutations,
  ...forgeries,
  ...objectMutations,
  ...packMutations,
  ...fileMutations,
}

export interface Trial {
  mutation: string
  what: string
  found: boolean
  /** Whether a break says where. */
  named: boolean
  report: AuditReport
}

/** Damages a copy of a home in one way and looks whether the audit finds it, against a checkpoint kept from before. */
export async function tryMutation(home: string, copy: string, checkpoint: Checkpoint, mutation: string, dice: Dice): Promise<Trial> {
  rmSync(copy, { recursive: true, force: true })
  cpSync(home, copy, { recursive: true })
  const placeOf = (hex: string) => join(copy, 'objects', hex.slice(0, 2), hex.slice(2))
  const stored: string[] = []
  for await (const { digest, bytes } of openInventory(join(copy, 'objects')).list())
    if (bytes > 0) stored.push(digest.slice('sha256:'.length))
  const objects = stored.filter((hex) => existsSync(placeOf(hex))).sort()
  const packed = stored.filter((hex) => !existsSync(placeOf(hex)))
  const packs = readdirSync(join(copy, 'objects', 'packs')).map((name) => join(copy, 'objects', 'packs', name))
  const db = new DatabaseSync(join(copy, 'assay.db'))
  const events = db.prepare('SELECT position, stream, version, body FROM events ORDER BY position').all() as unknown as EventRow[]
  const mutate = mutations[mutation]
  if (!mutate) throw new Error(`there is no mutation ${mutation}`)
  const done = mutate({ home: copy, db, dice, events, objects, packs, packed, placeOf })
  if (db.isOpen) db.close()
  // Whoever makes all hashes fit does not leave the record beside the journal that tells of them.
  if (mutation in forgeries) rmSync(join(copy, 'assay.head'))
  const report = await auditHome(copy, checkpoint)
  return { mutation, what: done.what, found: report.breaks.length > 0, named: report.breaks.some(done.named), report }
}

/** What `assay audit verify --checkpoint` finds in a home. */
export async function auditHome(home: string, checkpoint?: Checkpoint): Promise<AuditReport> {
  const path = join(home, 'assay.db')
  try {
    if (!existsSync(path)) throw new JournalFault('not_a_journal', `there is no journal in ${home}`)
    const journal = await openSqliteJournal({ path, views: engineViews })
    try {
      const folder = join(home, 'objects')
      return await verifyEverything({ journal, snapshots: openSnapshotStore({ folder }), inventory: openInventory(folder) }, checkpoint)
    } finally {
      await journal.close()
    }
  } catch (error) {
    if (error instanceof JournalFault) return unopenable(error)
    throw error
  }
}
