import type { Usage } from '../../contract/verdict.ts'
import { fromDecimal } from '../score/exact.ts'
import { addTexts, ExactTotal } from './score-sum.ts'

/** Calls of judges, answered or not. Money is known only for calls whose price is; the others are counted as `unpriced`. */
export interface CallSum {
  calls: number
  unpriced: number
  inputTokens: number
  outputTokens: number
  /** US dollars as an exact fraction: a sum of doubles would depend on its order. */
  cost: string
}

export const noCalls: CallSum = { calls: 0, unpriced: 0, inputTokens: 0, outputTokens: 0, cost: '0/1' }

export function withCall(sum: CallSum, { inputTokens = 0, outputTokens = 0, costUsd }: Usage = {}): CallSum {
  return {
    calls: sum.calls + 1,
    unpriced: sum.unpriced + (costUsd === undefined ? 1 : 0),
    inputTokens: sum.inputTokens + inputTokens,
    outputTokens: sum.outputTokens + outputTokens,
    cost: costUsd === undefined ? sum.cost : addTexts(sum.cost, costText(costUsd)),
  }
}

function costText(costUsd: number): string {
  const { n, d } = fromDecimal(costUsd)
  return `${n}/${d}`
}

/** What calls came to, as it is told. */
export interface Spending {
  calls: number
  unpriced: number
  inputTokens: number
  outputTokens: number
  costUsd: number
}

export class CallTotal {
  readonly #counts = { calls: 0, unpriced: 0, inputTokens: 0, outputTokens: 0 }
  readonly #cost = new ExactTotal()

  add({ calls, unpriced, inputTokens, outputTokens, cost }: CallSum): void {
    this.#counts.calls += calls
    this.#counts.unpriced += unpriced
    this.#counts.inputTokens += inputTokens
    this.#counts.outputTokens += outputTokens
    if (cost !== '0/1') this.#cost.add(cost)
  }

  /** The cost is the number nearest to the exact sum. */
  get spending(): Spending {
    const { n, d } = this.#cost.value
    const whole = n / d
    return { ...this.#counts, costUsd: Number(whole) + Number(n - whole * d) / Number(d) }
  }
}
