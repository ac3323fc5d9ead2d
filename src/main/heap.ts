import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** From this size on the heap is kept small; below it, collecting often costs more than the memory is worth. */
const largeHeap = 192 * 1024 * 1024
/** What is large from the beginning (a mission of 100,000 tasks that is read) is so by the first look: nobody looks while it is read. */
const firstLookMs = 1_000
const lookEveryMs = 100

/**
 * Garbage of a large heap is collected when it has grown by half, not at several times its size: a mission of 100,000 tasks keeps 140 MB alive, and on a
 * machine with much memory would otherwise let 700 MB come together. For processes that are Assay's own; a library leaves its host's heap alone.
 */
export function keepHeapSmall(): void {
  grownBy(50)
  setTimeout(() => {
    if (isLarge()) return
    grownBy(0)
    const looking = setInterval(() => {
      if (!isLarge()) return
      grownBy(50)
      clearInterval(looking)
    }, lookEveryMs).unref()
  }, firstLookMs).unref()
}

/** By how many percent the heap grows before it is collected; 0: as Node sees fit. */
function grownBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}

function isLarge(): boolean {
  return getHeapStatistics().used_heap_size >= largeHeap
}
