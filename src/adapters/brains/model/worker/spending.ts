import { z } from 'zod'
import type { Usage } from '../../../../contract/verdict.ts'
import { type Prices, type Reported, Tally } from '../tally.ts'

const Counts = z.object({
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  costUsd: z.number().optional(),
  estimated: z.literal(true).optional(),
  ms: z.number(),
})
type Counts = z.infer<typeof Counts>

/** What an attempt has used, as it is stored with the conversation: all of it, and how much of that was told with a case. */
export const Spent = z.object({ all: Counts, told: Counts })
export type Spent = z.infer<typeof Spent>

const nothing: Counts = { ms: 0 }

/** Adds up what an attempt uses, over every process that takes part in it. */
export class Spending {
  readonly #tally: Tally
  readonly #startedAt = performance.now()
  readonly #before: number
  #told: Counts

  constructor(prices: Prices | undefined, before: Spent = { all: nothing, told: nothing }) {
    const { ms, ...sums } = before.all
    this.#tally = new Tally(prices, sums)
    this.#before = ms
    this.#told = before.told
  }

  /** `most`: US dollars that the request could cost. */
  add(reported: Reported, most: () => number): void {
    this.#tally.add(reported, most)
  }

  /** Milliseconds of the attempt so far. */
  get ms(): number {
    return this.#before + performance.now() - this.#startedAt
  }

  /** US dollars of the attempt so far; undefined without prices. */
  get costUsd(): number | undefined {
    return this.#tally.usage().costUsd
  }

  /** Everything so far has been told. */
  settle(): void {
    this.#told = this.#counts()
  }

  spent(): Spent {
    return { all: this.#counts(), told: this.#told }
  }

  /** What was used and not told yet. */
  usage(): Usage {
    const rest: Usage = { ...this.#tally.usage() }
    for (const key of ['inputTokens', 'outputTokens', 'costUsd'] as const) {
      const all = rest[key]
      if (all !== undefined) rest[key] = Math.max(0, all - (this.#told[key] ?? 0))
    }
    return { ...rest, durationMs: Math.max(0, this.ms - this.#told.ms) }
  }

  #counts(): Counts {
    return { ...this.#tally.usage(), ms: this.ms }
  }
}
