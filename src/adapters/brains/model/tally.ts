import type { LanguageModelUsage } from 'ai'
import type { Usage } from '../../../contract/verdict.ts'

/** US dollars for a million tokens. */
export interface Prices {
  inputPerMillion: number
  outputPerMillion: number
}

/** Adds up what all requests of a sitting used, as far as the provider says so. */
export class Tally {
  readonly #prices: Prices | undefined
  #input: number | undefined
  #output: number | undefined

  constructor(prices?: Prices) {
    this.#prices = prices
  }

  add({ inputTokens, outputTokens }: Pick<LanguageModelUsage, 'inputTokens' | 'outputTokens'>): void {
    this.#input = sum(this.#input, inputTokens)
    this.#output = sum(this.#output, outputTokens)
  }

  usage(): Usage {
    return {
      ...(this.#input === undefined ? {} : { inputTokens: this.#input }),
      ...(this.#output === undefined ? {} : { outputTokens: this.#output }),
      ...(this.#prices && { costUsd: this.#cost(this.#prices) }),
    }
  }

  #cost({ inputPerMillion, outputPerMillion }: Prices): number {
    return ((this.#input ?? 0) * inputPerMillion + (this.#output ?? 0) * outputPerMillion) / 1_000_000
  }
}

/** A count that is none, because a server may say anything, is left out. */
function sum(total: number | undefined, more: number | undefined): number | undefined {
  return more !== undefined && Number.isSafeInteger(more) && more >= 0 ? (total ?? 0) + more : total
}
