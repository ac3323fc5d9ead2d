import { randomUUID } from 'node:crypto'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import { openMemorySnapshotStore } from '../../adapters/snapshots/store.ts'
import { sha256Hex } from '../../contract/canonical.ts'
import type { BroughtDeliverable } from '../../engine/deliverables/review.ts'
import { Engine } from '../../engine/engine.ts'
import { engineViews } from '../../engine/views/tasks.ts'
import { eyesOf } from '../engine/brains.ts'
import { openWorkshop } from '../engine/workshop.ts'

/** What judges think of a content is written in it: its score. */
export const scoreOf = (content: string): number => Number(/score=(\d+)/.exec(content)?.[1] ?? 0)
export const digestOfText = (content: string): string => `sha256:${sha256Hex(content)}`

export interface GateWorldOptions {
  /** The bar of each policy that is in force at some time. */
  bars: readonly number[]
  config?: object
}

/** Engines over one journal in memory, one for each policy; judges that read their score off the content; files and a clock that a test moves. */
export function openGateWorld({ bars, config = {} }: GateWorldOptions) {
  let ahead = 0
  let reachable = true
  const now = () => Date.now() + ahead
  const clock = { now, wall: now }
  const journal = openMemoryJournal({ views: engineViews, clock })
  const snapshots = openMemorySnapshotStore()
  const files = new Map<string, string>()
  const shops = bars.map((threshold) =>
    openWorkshop({
      config: {
        brains: { eyes: { kind: 'scripted', file: 'eyes.yaml' } },
        agents: {
          qa: { role: 'reviewer', brain: 'eyes' },
          alias: { role: 'reviewer', brain: 'eyes' },
          qa2: { role: 'reviewer', brain: 'eyes', instructions: 'Look for what is missing.' },
        },
        review: { threshold, panel: { size: 1, quorum: 1 } },
        limits: { judgeRetries: 0 },
        ...config,
      },
      brains: {
        eyes: eyesOf(({ prompt }) => (reachable ? `What I think.\nSCORE: ${/text: score=(\d+)/.exec(prompt)?.[1] ?? 'none'}` : undefined)),
      },
      journal,
    }),
  )
  const engines = shops.map(({ parts }) => new Engine({ ...parts, journal, snapshots, clock, owner: `test-${randomUUID()}` }))
  return {
    engines,
    snapshots,
    files,
    journal,
    clock,
    advance: (ms: number) => {
      ahead += ms
    },
    setReachable: (is: boolean) => {
      reachable = is
    },
    digestOf: async (source: string) => digestOfText(files.get(source) ?? ''),
    /** The file at `source` as a version of a deliverable, its bytes stored. */
    bring: async (deliverable: string, producer: string, source: string): Promise<BroughtDeliverable> => {
      const bytes = Buffer.from(files.get(source) ?? '')
      const digest = await snapshots.putBytes(bytes)
      const snapshot = await snapshots.compose([{ path: 'report.md', size: bytes.length, digest, executable: false }])
      return { deliverable, kind: 'file', title: deliverable, producer, snapshot, base: await snapshots.compose([]), digest, source }
    },
    close: async () => {
      for (const engine of engines.slice(0, 1)) await engine.close()
      for (const shop of shops) shop.remove()
    },
  }
}
