import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** From this size on the heap is kept small; below it, collecting often would cost more than the memory is worth. */
const largeHeap = 192 * 1024 * 1024
const lookEveryMs = 100

/**
 * Garbage of a large heap is collected when it has grown by half, not at several times its size: a mission of 100,000 tasks keeps 140 MB alive, and on a
 * machine with much memory would otherwise let 700 MB come together. For processes that are Assay's own; a library leaves its host's heap alone.
 */
export function keepHeapSmall(): void {
  const looking = setInterval(() => {
    if (getHeapStatistics().used_heap_size < largeHeap) return
    setFlagsFromString('--heap-growing-percent=50')
    clearInterval(looking)
  }, lookEveryMs)
  looking.unref()
}
