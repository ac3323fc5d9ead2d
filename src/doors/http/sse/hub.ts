import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal } from '../../../ports/journal.ts'
import { type Frame, frameOf, RecentFrames } from './frames.ts'

export interface HubOptions {
  /** Events that may come while a reader takes nothing, before it is cut off. */
  buffer: number
  maxReaders: number
  /** A reader that takes nothing for this long is cut off, whatever comes. */
  stallMs: number
  pingMs: number
  log(line: string): void
}

/** One reader of the stream, as the hub sees it. */
export interface Reader {
  /** Something came, or the time for a sign of life has. */
  wake(): void
  /** Head of the journal when the reader's connection became full; undefined while it takes what it gets. */
  fullSince(): number | undefined
  cut(why: string): void
  end(): void
}

/** Events read at once, and characters kept for readers who keep up. */
const pageSize = 500
const keptChars = 8 * 1024 * 1024
const newsMs = 1000

/** Follows the journal once for all readers. Without readers it reads nothing. */
export class EventHub {
  readonly #journal: Journal
  readonly options: HubOptions
  readonly #recent: RecentFrames
  readonly #readers = new Set<Reader>()
  #begun: Promise<void> | undefined
  #following: Promise<void> = Promise.resolve()
  #head = 0
  #closed = false

  constructor(journal: Journal, options: HubOptions) {
    this.#journal = journal
    this.options = options
    this.#recent = new RecentFrames(options.buffer, keptChars)
  }

  get head(): number {
    return this.#head
  }

  get readers(): number {
    return this.#readers.size
  }

  /** False where there are too many, or none is taken any more. */
  async join(reader: Reader): Promise<boolean> {
    if (this.#closed || this.#readers.size >= this.options.maxReaders) return false
    this.#readers.add(reader)
    this.#begun ??= this.#begin()
    await this.#begun
    return true
  }

  leave(reader: Reader): void {
    this.#readers.delete(reader)
  }

  /** The next frames after a position; none where it is the end. */
  async after(position: number): Promise<readonly Frame[]> {
    return this.#recent.after(position) ?? (await this.#journal.read(position, pageSize)).map(frameOf)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const reader of this.#readers) reader.end()
    this.#readers.clear()
    await this.#following
  }

  /** Where the following starts is known before anybody reads. */
  async #begin(): Promise<void> {
    this.#recent.clear()
    this.#head = await this.#journal.position()
    this.#following = this.#follow()
  }

  async #follow(): Promise<void> {
    while (!this.#closed && this.#readers.size > 0) {
      try {
        await this.#journal.waitForNews(this.#head, newsMs)
        await this.#catchUp()
      } catch (error) {
        // Readers who are still there hear again once the store answers; those who left it ask anew.
        this.options.log(`events cannot be read: ${(error as Error).message}`)
        await sleep(newsMs)
      }
    }
    this.#begun = undefined
  }

  async #catchUp(): Promise<void> {
    for (;;) {
      const events = await this.#journal.read(this.#head, pageSize)
      for (const event of events) {
        this.#recent.add(frameOf(event))
        this.#head = event.position
      }
      for (const reader of this.#readers) {
        const since = reader.fullSince()
        if (since !== undefined && this.#head - since > this.options.buffer)
          reader.cut(`it took nothing while ${this.#head - since} events came`)
        else reader.wake()
      }
      if (events.length < pageSize) return
    }
  }
}
