import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import { materialise } from '../../adapters/snapshots/materialise.ts'
import { openSnapshotStore } from '../../adapters/snapshots/store.ts'
import { openWorkspaces } from '../../adapters/workspace/workspaces.ts'
import type { CheckReport } from '../../contract/check.ts'
import { Config } from '../../contract/config/config.ts'
import { policyDigest } from '../../core/policy/policy.ts'
import { Engine } from '../../engine/engine.ts'
import type { EngineParts, FetchPage } from '../../engine/parts.ts'
import { policyOf } from '../../engine/project.ts'
import { engineViews } from '../../engine/views/tasks.ts'
import type { BrainPort } from '../../ports/brain.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Journal } from '../../ports/journal.ts'

export interface WorkshopOptions {
  config: object
  brains: Record<string, BrainPort>
  journal?: Journal
  folder?: string
  fetchPage?: FetchPage
  clock?: Clock
}

/** A whole engine on a temporary folder, with brains that the test writes; checks pass unless their file is missing. */
export function openWorkshop({ config: written, brains, journal, folder, fetchPage, clock }: WorkshopOptions): {
  engine: Engine
  parts: EngineParts
  folder: string
  remove(): void
} {
  const root = folder ?? mkdtempSync(join(tmpdir(), 'assay-workshop-'))
  mkdirSync(root, { recursive: true })
  const config = Config.parse(written)
  const policy = policyOf(config)
  const snapshots = openSnapshotStore({ folder: join(root, 'objects') })
  const parts: EngineParts = {
    config,
    rules: { policy, digest: policyDigest(policy) },
    journal: journal ?? openMemoryJournal({ views: engineViews }),
    snapshots,
    workspaces: openWorkspaces({ folder: join(root, 'work'), projectRoot: root, snapshots }),
    checks: {
      run: async (id, spec): Promise<CheckReport> => ({ id, kind: spec.kind, outcome: 'pass', summary: 'ok', output: '', findings: [] }),
    },
    openBrain: async (name) => {
      const brain = brains[name]
      if (!brain) throw new Error(`the test has no brain ${name}`)
      return brain
    },
    openNotifier: async () => ({ send: async () => ({ ok: true }) }),
    materialise: async (digest) => {
      const copy = await materialise(snapshots, digest as never, join(root, 'copies'))
      if (!copy.ok) throw new Error(copy.problem.message)
      return copy
    },
    fetchPage: fetchPage ?? (async () => ({ ok: false, code: 'no_network', message: 'the test has no network' })),
    clock: clock ?? { now: () => Date.now(), wall: () => Date.now() },
    random: { id: () => randomUUID(), nonce: () => randomBytes(16).toString('hex') },
    owner: `test-${randomUUID()}`,
    sandboxed: async () => false,
  }
  return { engine: new Engine(parts), parts, folder: root, remove: () => rmSync(root, { recursive: true, force: true }) }
}
