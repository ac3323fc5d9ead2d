import type { Lease } from '../../contract/work.ts'
import type { BrainPort } from '../../ports/brain.ts'
import type { EngineParts } from '../parts.ts'
import type { KeptReports } from './checking/reports-kept.ts'
import type { Handled, TaskStore } from '../task/task-store.ts'

/** What every runner of work has at hand. */
export interface Bench {
  parts: EngineParts
  tasks: TaskStore
  brain(name: string): Promise<BrainPort>
  /** Where in its list of dependencies a waiting task was last found to miss one. */
  missing: Map<string, number>
  /** Where judging has a bound on its cost, judges of one mission are asked one after the other: the bound is looked at with everything counted. */
  paying: Map<string, Promise<void>>
  /** What checks found on content that they have looked at before. */
  reports: KeptReports
}

/** Runs one piece of work. Ends by settling the lease: with a command, by completing it, or by giving it back. */
export type Runner = (bench: Bench, lease: Lease, signal: AbortSignal) => Promise<void>

/** A command that nobody wants any more (late, doubled, overtaken) completes the work all the same; anything else went through with it. */
export async function settleRefused(bench: Bench, lease: Lease, handled: Handled): Promise<void> {
  if (!handled.ok && handled.error.code !== 'lease_lost') await bench.parts.journal.complete(lease)
}
