import { join } from 'node:path'
import { describe } from 'vitest'
import { snapshotSuite } from '../../testing/snapshot-suite/suite.ts'
import { tempFolder } from '../../testing/snapshot-suite/trees.ts'
import { openMemorySnapshotStore, openSnapshotStore } from './store.ts'

describe('snapshots on disk', () => {
  snapshotSuite((limits) => openSnapshotStore({ folder: join(tempFolder(), 'objects'), ...limits }))
})

describe('snapshots on disk, folders held by path', () => {
  snapshotSuite((limits) => openSnapshotStore({ folder: join(tempFolder(), 'objects'), holding: 'path', ...limits }))
})

describe('snapshots in memory', () => {
  snapshotSuite((limits) => openMemorySnapshotStore(limits))
})
