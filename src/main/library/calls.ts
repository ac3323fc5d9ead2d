/** A call to an `Assay` that was closed. */
export class AssayClosedError extends Error {
  readonly code = 'closed'
  constructor() {
    super('this Assay is closed: nothing can be asked of it after close(); openAssay() opens another one')
    this.name = 'AssayClosedError'
  }
}

/** Calls that are under way: none begins after the end, and the end waits for those that have begun. */
export class Calls {
  readonly #ending = new AbortController()
  readonly #open = new Set<Promise<unknown>>()

  /** Rejects where the end has come; else does the work, which is told to stop by the caller's signal and by the end. */
  async make<T>(signal: AbortSignal | undefined, work: (stop: AbortSignal) => Promise<T>): Promise<T> {
    const done = work(this.stopping(signal))
    this.#open.add(done)
    try {
      return await done
    } finally {
      this.#open.delete(done)
    }
  }

  /** The signal by which something stops. Throws where the end has come. */
  stopping(signal: AbortSignal | undefined): AbortSignal {
    if (this.#ending.signal.aborted) throw new AssayClosedError()
    return signal ? AbortSignal.any([signal, this.#ending.signal]) : this.#ending.signal
  }

  /** Ends what is under way. How each came out is its caller's to hear. */
  async end(): Promise<void> {
    this.#ending.abort()
    await Promise.allSettled(this.#open)
  }
}
