import type { LanguageModelUsage } from 'ai'
import { z } from 'zod'
import type { Usage } from '../../../../contract/verdict.ts'
import { type Prices, Tally } from '../tally.ts'

const Counts = z.object({ inputTokens: z.number().optional(), outputTokens: z.number().optional(), ms: z.number() })
type Counts = z.infer<typeof Counts>

/** What an attempt has used, as it is stored with the conversation: all of it, and how much of that was told with a case. */
export const Spent = z.object({ all: Counts, told: Counts })
export type Spent = z.infer<typeof Spent>

const nothing: Counts = { ms: 0 }

/** Adds up what an attempt uses, over every process that takes part in it. */
export class Spending {
  readonly #tally: Tally
  readonly #prices: Prices | undefined
  readonly #startedAt = performance.now()
  readonly #before: number
  #told: Counts

  constructor(prices: Prices | undefined, before: Spent = { all: nothing, told: nothing }) {
    this.#prices = prices
    this.#tally = new Tally(prices)
    this.#tally.add({ inputTokens: before.all.inputTokens, outputTokens: before.all.outputTokens })
    this.#before = before.all.ms
    this.#told = before.told
  }

  add(usage: Pick<LanguageModelUsage, 'inputTokens' | 'outputTokens'>): void {
    this.#tally.add(usage)
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
    const { inputTokens, outputTokens } = this.#tally.usage()
    const rest = new Tally(this.#prices)
    rest.add({
      inputTokens: inputTokens === undefined ? undefined : inputTokens - (this.#told.inputTokens ?? 0),
      outputTokens: outputTokens === undefined ? undefined : outputTokens - (this.#told.outputTokens ?? 0),
    })
    return { ...rest.usage(), durationMs: Math.max(0, this.ms - this.#told.ms) }
  }

  #counts(): Counts {
    const { inputTokens, outputTokens } = this.#tally.usage()
    return { ...(inputTokens !== undefined && { inputTokens }), ...(outputTokens !== undefined && { outputTokens }), ms: this.ms }
  }
}
