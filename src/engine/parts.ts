import type { Config } from '../contract/config/config.ts'
import type { TaskSpec } from '../contract/task.ts'
import type { Rules } from '../core/task/draft.ts'
import type { BrainPort } from '../ports/brain.ts'
import type { CheckRunner } from '../ports/checks.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Clock, Random } from '../ports/clock.ts'
import type { Journal } from '../ports/journal.ts'
import type { OpenNotifier } from '../ports/notifier.ts'
import type { SnapshotStore } from '../ports/snapshots.ts'
import type { Workspaces } from '../ports/workspace.ts'

export type FetchPage = (
  url: string,
  options: { allowPrivate: boolean },
) => Promise<{ ok: true; body: Uint8Array } | { ok: false; code: string; message: string }>

/** What an engine is made of. main.ts puts real parts in, tests put in what they need. */
export interface EngineParts {
  config: Config
  rules: Rules
  journal: Journal
  snapshots: SnapshotStore
  workspaces: Workspaces
  checks: CheckRunner
  /** Opens a brain by its name in the config; called once per brain in use. */
  openBrain(name: string): Promise<BrainPort>
  openNotifier: OpenNotifier
  /** A private copy of a snapshot in a temporary folder; with what is installed for the task's workspace, where one is named, but for some packages of it. */
  materialise(
    snapshot: string,
    options?: { packagesFor?: TaskSpec; withoutPackages?: readonly string[] },
  ): Promise<{ folder: string; dispose(): Promise<void> }>
  /** The body of a page that is a deliverable; private addresses only where they are allowed. */
  fetchPage: FetchPage
  clock: Clock
  random: Random
  telemetry?: Telemetry
  /** Who this process is, for leases. */
  owner: string
  /** Digest of the owner's token: the first that a journal sees is its owner's. */
  ownerToken?: string
  /** Whether workers run in a sandbox that keeps them from the journal; found out when first asked, for most commands run nothing. */
  sandboxed: () => Promise<boolean>
}
