import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** How often the file is asked whether another process has written; asking costs microseconds. */
const pollMs = 25
/** What a timer can hold; a longer one would fire at once. */
const maxTimeoutMs = 2 ** 31 - 1

interface Waiter {
  /** The count of news when the wait began. */
  since: number
  wake: () => void
}

/** Wakes those who wait for something new: at once when this process wrote it, by polling when another one did. */
export class News {
  readonly #dataVersion: StatementSync
  readonly #readNews: () => number
  readonly #waiters = new Set<Waiter>()
  #seenVersion = -1
  #poll: NodeJS.Timeout | undefined

  constructor(db: DatabaseSync, readNews: () => number) {
    this.#dataVersion = db.prepare('PRAGMA data_version')
    this.#readNews = readNews
  }

  wait(since: number, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        if (this.#waiters.size === 0) this.#stopPolling()
        resolve()
      }
      const waiter: Waiter = { since, wake }
      const timer = setTimeout(wake, Math.min(Math.max(0, timeoutMs), maxTimeoutMs))
      this.#waiters.add(waiter)
      this.#poll ??= setInterval(() => this.#look(), pollMs)
    })
  }

  announce(): void {
    for (const waiter of [...this.#waiters]) waiter.wake()
  }

  #look(): void {
    try {
      const { data_version: version } = this.#dataVersion.get() as { data_version: number }
      if (version === this.#seenVersion) return
      this.#seenVersion = version
      const news = this.#readNews()
      for (const waiter of [...this.#waiters]) if (waiter.since !== news) waiter.wake()
    } catch {
      // The file cannot be read: whoever waits finds out from the read that follows.
      this.announce()
    }
  }

  #stopPolling(): void {
    clearInterval(this.#poll)
    this.#poll = undefined
  }
}
