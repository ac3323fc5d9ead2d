import { hash } from 'node:crypto'
import { problemReply, type Reply } from './reply.ts'
import { refuse } from './problem.ts'

interface Kept {
  request: string
  reply: Promise<Reply>
  bytes: number
}

export interface RememberedOptions {
  entries: number
  bytes: number
}

/**
 * Answers by `Idempotency-Key`: whoever repeats a request because the answer was lost gets that answer, and nothing happens twice. What was refused
 * had no effect and is not kept: put right, or once its cause is gone, it may come again under its key. Kept in memory and bounded, the oldest
 * forgotten first; what must never happen twice is also told apart in the journal.
 */
export class RememberedAnswers {
  readonly #kept = new Map<string, Kept>()
  readonly #options: RememberedOptions
  #bytes = 0

  constructor(options: RememberedOptions) {
    this.#options = options
  }

  /** `of` is who asks, for what, and the key; `body` is what the request says. */
  async answer(of: readonly string[], body: string, work: () => Promise<Reply>): Promise<Reply> {
    const name = JSON.stringify(of)
    const request = hash('sha256', body)
    const known = this.#kept.get(name)
    if (known && known.request !== request)
      return problemReply(refuse('key_reused', 'this Idempotency-Key came with another request before: use a new one').refused)
    if (known) return known.reply
    const kept: Kept = { request, reply: work(), bytes: 0 }
    this.#kept.set(name, kept)
    try {
      const reply = await kept.reply
      if (reply.status >= 300) this.#forget(name, kept)
      else this.#weigh(name, kept, reply)
      return reply
    } catch (error) {
      this.#forget(name, kept)
      throw error
    }
  }

  /** One that was forgotten while it was under way may have been asked for again since. */
  #forget(name: string, kept: Kept): void {
    if (this.#kept.get(name) === kept) this.#kept.delete(name)
  }

  #weigh(name: string, kept: Kept, reply: Reply): void {
    if (this.#kept.get(name) !== kept) return
    kept.bytes = reply.body.length
    this.#bytes += kept.bytes
    for (const [first, oldest] of this.#kept) {
      if (this.#kept.size <= this.#options.entries && this.#bytes <= this.#options.bytes) return
      this.#kept.delete(first)
      this.#bytes -= oldest.bytes
    }
  }
}
