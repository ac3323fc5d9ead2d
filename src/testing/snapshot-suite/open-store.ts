import type { SnapshotStore } from '../../ports/snapshots.ts'

export interface StoreLimits {
  maxFileBytes?: number
  maxTotalBytes?: number
  maxFiles?: number
}

/** A new, empty store for one test. */
export type OpenStore = (limits?: StoreLimits) => SnapshotStore
