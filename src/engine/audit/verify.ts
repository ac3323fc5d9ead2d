import type { Checkpoint } from '../../contract/attest/checkpoint.ts'
import type { BrokenLink } from '../../contract/chain.ts'
import type { Policy } from '../../contract/policy.ts'
import { CheckpointComparison } from '../../core/attest/compare.ts'
import type { ObjectInventory } from '../../ports/inventory.ts'
import type { Journal, JournalFault } from '../../ports/journal.ts'
import type { SnapshotStore } from '../../ports/snapshots.ts'
import { type Naming, proveObjects } from './objects.ts'
import { Candidates, endingsLost, openLost } from './queue/lost.ts'
import { strayWork } from './queue/strays.ts'
import { referencesOf } from './references.ts'
import { walkJournal } from './walk.ts'

export interface AuditReport {
  events: number
  streams: number
  objects: number
  /** When the checkpoint was made that the journal was held against; null where there was none. */
  checkpoint: string | null
  /** Nothing is wrong but that the journal ends before the checkpoint does: an older state, intact as far as can be told. */
  rollback: boolean
  breaks: BrokenLink[]
}

export interface AuditedParts {
  journal: Journal
  snapshots: SnapshotStore
  inventory: ObjectInventory
  /** Says who comes by itself; without it nobody looks whether open tasks have work queued. */
  policy?: Policy
}

/** Recomputes everything that can be recomputed: chains, views, objects, queued work, and what open tasks wait for; and holds the journal against a checkpoint. Changes nothing. */
export async function verifyEverything(
  { journal, snapshots, inventory, policy }: AuditedParts,
  checkpoint?: Checkpoint,
): Promise<AuditReport> {
  const { events, streams, breaks } = await journal.verify()
  const comparison = checkpoint && new CheckpointComparison(checkpoint)
  const namings: Naming[] = []
  const known = new Set<string>()
  const ending = new Candidates()
  const whole = await walkJournal(journal, (event) => {
    comparison?.feed(event)
    ending.feed(event)
    for (const reference of referencesOf(event)) {
      if (known.has(`${reference.kind} ${reference.digest}`)) continue
      known.add(`${reference.kind} ${reference.digest}`)
      namings.push({ ...reference, stream: event.stream, version: event.version, position: event.position })
    }
  })
  const views = breaks.length === 0 && whole ? await viewBreaks(journal) : []
  // Tasks are found by their rows, so these are proved first.
  const isSound = breaks.length === 0 && whole
  const idle = policy && isSound && views.length === 0 ? (await openLost(journal, policy)).map(({ link }) => link) : []
  const queue = isSound ? [...(await strayWork(journal)), ...(await endingsLost(journal, ending)).map(({ link }) => link)] : []
  const proof = await proveObjects(snapshots, inventory, namings)
  const own = [...breaks, ...views, ...idle, ...queue, ...proof.breaks]
  const compared = comparison?.finish(whole) ?? []
  return {
    events,
    streams,
    objects: proof.objects,
    checkpoint: checkpoint?.at ?? null,
    rollback: own.length === 0 && comparison?.isOlder === true,
    breaks: [...compared, ...own],
  }
}

async function viewBreaks(journal: Journal): Promise<BrokenLink[]> {
  return (await journal.compareViews()).map(({ view, key }) => ({
    stream: `view ${view}, row ${key}`,
    version: 0,
    position: null,
    problem: 'the stored row differs from what the journal comes to',
  }))
}

/** A file too damaged to be opened is as broken as one with a broken chain. */
export function unopenable(fault: JournalFault): AuditReport {
  const problem = fault.message
  return {
    events: 0,
    streams: 0,
    objects: 0,
    checkpoint: null,
    rollback: false,
    breaks: [{ stream: '(journal)', version: 0, position: null, problem }],
  }
}
