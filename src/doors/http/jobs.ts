import type { Who } from './authority/who.ts'

/** Work that outlasts a request: begun by one, looked at by others. */
export interface Job<T> {
  id: string
  /** Who began it; nobody else but the owner sees it. */
  by: Who
  done: Promise<void>
  value?: T
  error?: unknown
}

/** At once under way, and ended ones that can still be asked for. */
const mostOpen = 100
const mostEnded = 500

/** Jobs of one kind, in memory: what they do is in the journal, and goes on after a restart without them. */
export class Jobs<T> {
  readonly #open = new Map<string, Job<T>>()
  readonly #ended = new Map<string, Job<T>>()

  /** Undefined where too many are under way. */
  start(id: string, by: Who, work: () => Promise<T>): Job<T> | undefined {
    if (this.#open.size >= mostOpen) return undefined
    const job: Job<T> = { id, by, done: Promise.resolve() }
    job.done = this.#work(job, work)
    this.#ended.delete(id)
    this.#open.set(id, job)
    return job
  }

  async #work(job: Job<T>, work: () => Promise<T>): Promise<void> {
    try {
      job.value = await work()
    } catch (error) {
      job.error = error ?? new Error('failed')
    }
    this.#open.delete(job.id)
    this.#ended.set(job.id, job)
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest)
  }

  /** The job, for whoever began it and for the owner. */
  find(id: string, who: Who): Job<T> | undefined {
    const job = this.#open.get(id) ?? this.#ended.get(id)
    return job && (who.scope === 'owner' || (job.by.scope === who.scope && job.by.name === who.name)) ? job : undefined
  }

  isOpen(id: string): boolean {
    return this.#open.has(id)
  }

  /** Resolves when none is under way. */
  async settled(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ done }) => done))
  }
}

/** Waits for a job, but not longer than the seconds that the caller gave. */
export async function waitFor(job: Pick<Job<unknown>, 'done'>, seconds: number): Promise<void> {
  if (seconds === 0) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000)
  })
  await Promise.race([job.done, late])
  clearTimeout(timer)
}
