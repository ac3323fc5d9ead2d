import { setFlagsFromString } from 'node:v8'

/**
 * Garbage is collected when the heap has grown by half, not at several times its size: a mission of 100,000 tasks keeps 140 MB alive, and on a
 * machine with much memory would otherwise let 700 MB come together. For processes that are Assay's own; a library leaves its host's heap alone.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50')
}
