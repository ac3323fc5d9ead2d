import { digestsMean } from './contract/digests.ts'
import { hostileFolders } from './contract/hostile.ts'
import { limitsHold } from './contract/limits.ts'
import { restoring } from './contract/restoring.ts'
import { singleFiles } from './contract/single-files.ts'
import { storing } from './contract/storing.ts'
import type { OpenStore } from './open-store.ts'

/** What every snapshot store does. Call it inside a `describe` that names the store. */
export function snapshotSuite(open: OpenStore): void {
  storing(open)
  singleFiles(open)
  digestsMean(open)
  limitsHold(open)
  hostileFolders(open)
  restoring(open)
}
