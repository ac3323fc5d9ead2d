interface Job<T> {
  /** What it is about: the same work is joined, other work under the same name is not. */
  about: string
  /** Resolves when the work has ended, well or badly. */
  done: Promise<void>
  ended?: { ok: true; value: T } | { ok: false; error: unknown }
}

/** At once under way, and ended ones that are still remembered. */
const most = 100

/** Work that outlasts a call: begun by one, looked at by others. What it does is in the journal; only its end is kept here. */
export class Jobs<T> {
  readonly #jobs = new Map<string, Job<T>>()

  /** Begins the work unless it is under way already; undefined where too much is, or something else of that name. */
  start(name: string, about: string, work: () => Promise<T>): Job<T> | undefined {
    const before = this.#jobs.get(name)
    if (before && !before.ended) return before.about === about ? before : undefined
    if ([...this.#jobs.values()].filter(({ ended }) => !ended).length >= most) return undefined
    const job: Job<T> = { about, done: Promise.resolve() }
    job.done = this.#work(job, work)
    this.#jobs.delete(name)
    this.#jobs.set(name, job)
    for (const [old, { ended }] of this.#jobs) if (this.#jobs.size > most && ended) this.#jobs.delete(old)
    return job
  }

  async #work(job: Job<T>, work: () => Promise<T>): Promise<void> {
    try {
      job.ended = { ok: true, value: await work() }
    } catch (error) {
      job.ended = { ok: false, error }
    }
  }

  /** Resolves when none is under way. */
  async settled(): Promise<void> {
    await Promise.all([...this.#jobs.values()].map(({ done }) => done))
  }

  find(name: string): Job<T> | undefined {
    return this.#jobs.get(name)
  }
}
