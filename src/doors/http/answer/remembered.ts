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
 * Answers by `Idempotency-Key`: whoever repeats a request because the answer was lost gets that answer, and nothing happens twice. Kept in
 * memory and bounded, the oldest forgotten first; what must never happen twice is also told apart in the journal.
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
      // What failed for want of the server is worth another try.
      if (reply.status >= 500) this.#kept.delete(name)
      else this.#weigh(kept, reply)
      return reply
    } catch (error) {
      this.#kept.delete(name)
      throw error
    }
  }

  #weigh(kept: Kept, reply: Reply): void {
    kept.bytes = reply.body.length
    this.#bytes += kept.bytes
    for (const [name, oldest] of this.#kept) {
      if (this.#kept.size <= this.#options.entries && this.#bytes <= this.#options.bytes) return
      this.#kept.delete(name)
      this.#bytes -= oldest.bytes
    }
  }
}
