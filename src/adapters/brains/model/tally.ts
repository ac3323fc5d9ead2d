import type { Usage } from '../../../contract/verdict.ts'

/** US dollars for a million tokens. */
export interface Prices {
  inputPerMillion: number
  outputPerMillion: number
}

/** What a provider says that a request used. */
export type Reported = { inputTokens: number | undefined; outputTokens: number | undefined } | undefined

type Sums = Omit<Usage, 'durationMs'>

/** Adds up what all requests of a sitting used. A request whose answer does not say it in a way that can be believed has cost what it could at most. */
export class Tally {
  readonly #prices: Prices | undefined
  #sums: Sums

  constructor(prices?: Prices, before: Sums = {}) {
    this.#prices = prices
    this.#sums = { ...before }
  }

  /** `most`: US dollars that the request could cost; asked for only where it has to be. */
  add(reported: Reported, most: () => number): void {
    const input = counted(reported?.inputTokens)
    const output = counted(reported?.outputTokens)
    this.#sums = sumOf(this.#sums, {
      ...(input !== undefined && { inputTokens: input }),
      ...(output !== undefined && { outputTokens: output }),
      ...(this.#prices && costOf(this.#prices, input, output, most)),
    })
  }

  usage(): Sums {
    return { ...this.#sums, ...(this.#prices && { costUsd: this.#sums.costUsd ?? 0 }) }
  }
}

function costOf(prices: Prices, input: number | undefined, output: number | undefined, most: () => number): Sums {
  if (input === undefined || output === undefined) return { costUsd: most(), estimated: true }
  return { costUsd: (input * prices.inputPerMillion + output * prices.outputPerMillion) / 1_000_000 }
}

function sumOf(one: Sums, other: Sums): Sums {
  const sum: Sums = { ...one, ...(other.estimated && { estimated: true }) }
  for (const key of ['inputTokens', 'outputTokens', 'costUsd'] as const) {
    const more = other[key]
    if (more !== undefined) sum[key] = Math.min((sum[key] ?? 0) + more, Number.MAX_SAFE_INTEGER)
  }
  return sum
}

/** A count that is none, because a server may say anything, is left out. Nobody answers without reading or writing anything. */
function counted(tokens: number | undefined): number | undefined {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined
}
