export interface Lanes {
  /** Starts the job when a lane is free. Throws instead once another job has failed. */
  add(job: () => Promise<void>): Promise<void>
  /** Waits for every job, then throws the first failure. */
  drain(): Promise<void>
  /** Waits for every job, whatever came of it. */
  settle(): Promise<void>
}

/** Runs at most `width` jobs at once. */
export function openLanes(width: number): Lanes {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  return {
    async add(job) {
      while (running.size >= width) await Promise.race(running)
      if (failures.length > 0) throw failures[0]
      const lane: Promise<void> = job()
        .catch((error: unknown) => {
          failures.push(error)
        })
        .finally(() => {
          running.delete(lane)
        })
      running.add(lane)
    },
    async drain() {
      await Promise.all(running)
      if (failures.length > 0) throw failures[0]
    },
    async settle() {
      await Promise.all(running)
    },
  }
}

/** Long stretches of short synchronous work give way to everybody else every few milliseconds. */
export function openBreather(sliceMs = 5): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < sliceMs) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now()
        resolve()
      })
    })
  }
}
