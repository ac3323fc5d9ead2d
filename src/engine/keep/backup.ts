import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Checkpoint } from '../../contract/attest/checkpoint.ts'
import type { Result } from '../../contract/errors.ts'
import type { ObjectInventory } from '../../ports/inventory.ts'
import type { Journal } from '../../ports/journal.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'
import { type AuditReport, verifyEverything } from '../audit/verify.ts'
import { reachableObjects } from './reachable.ts'

/** A folder laid out like `.assay/`: a journal and the objects that it names. */
export interface OpenHome {
  journal: Journal
  snapshots: SnapshotStore
  inventory: ObjectInventory
  close(): Promise<void>
}

/** What copying a state needs of the world. */
export interface CopyTools {
  /** Copies the journal of one home into another as it was at one moment, while others may write. */
  copyJournal(from: string, to: string): Promise<void>
  open(home: string): Promise<OpenHome>
  /** The objects of a home alone; nothing in it is touched. */
  objects(home: string): Pick<OpenHome, 'snapshots' | 'inventory'>
}

export interface Copied {
  folder: string
  events: number
  objects: number
}

/**
 * Copies a consistent state: first the journal as it is at one moment, then every object that this copy names. Objects are stored before
 * the event that names them, so that none can be missing that the journal has.
 */
export async function backUp(tools: CopyTools, home: string, to: string): Promise<Result<Copied, string>> {
  if (existsSync(to)) return { ok: false, error: `${to} exists already: a backup never overwrites. Name a new folder` }
  return whole(to, async (draft) => {
    await tools.copyJournal(home, draft)
    const copied = await copyObjects(tools, home, draft)
    return { ok: true, value: { ...copied, folder: to } }
  })
}

/** Puts a backup in the place of a home that is not there, and proves it before it gets its name. */
export async function restoreBackup(
  tools: CopyTools,
  from: string,
  home: string,
  { checkpoint, acceptRollback }: { checkpoint: Checkpoint | undefined; acceptRollback: boolean },
): Promise<Result<Copied & { report: AuditReport }, string | AuditReport>> {
  if (existsSync(home)) return { ok: false, error: `${home} exists already: nothing is restored over it. \`assay reset\` puts it away` }
  return whole(home, async (draft) => {
    await tools.copyJournal(from, draft)
    const copied = await copyObjects(tools, from, draft)
    const opened = await tools.open(draft)
    try {
      const report = await verifyEverything(opened, checkpoint)
      if (report.breaks.length > 0 && !(report.rollback && acceptRollback)) return { ok: false, error: report }
      return { ok: true, value: { ...copied, folder: home, report } }
    } finally {
      await opened.close()
    }
  })
}

async function copyObjects(tools: CopyTools, from: string, to: string): Promise<Omit<Copied, 'folder'>> {
  const copy = await tools.open(to)
  try {
    const source = tools.objects(from)
    const named = await reachableObjects({ ...source, journal: copy.journal }, [])
    const missing = await source.inventory.copy(named, join(to, 'objects'))
    return { events: await copy.journal.position(), objects: named.size - missing.length }
  } finally {
    await copy.close()
  }
}

/** Made under another name first, so that what has the name is whole. */
async function whole<T, E>(folder: string, make: (draft: string) => Promise<Result<T, E>>): Promise<Result<T, E>> {
  const draft = join(dirname(folder), `.assay-draft-${randomUUID()}`)
  mkdirSync(draft, { recursive: true })
  try {
    const made = await make(draft)
    if (made.ok) renameSync(draft, folder)
    return made
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
