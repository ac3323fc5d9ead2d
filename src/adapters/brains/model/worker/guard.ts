import { createHash } from 'node:crypto'

/** From this many times on, the same call with the same answer is named to the model; at the other number the attempt is over. */
const sameAnswer = { named: 4, over: 8 }
/** Messages in a row in which nothing made sense. */
const mostStumbles = 5

/** Watches for a model that goes round in circles. */
export class Guard {
  readonly #seen = new Map<string, number>()
  #stumbles = 0

  /** How often this very call had this very answer, counted from 4 on; `over` when that is enough. */
  saw(tool: string, input: unknown, answer: string): { times: number; over: boolean } | undefined {
    const key = createHash('sha256')
      .update(JSON.stringify([tool, input, answer]))
      .digest('hex')
    const times = (this.#seen.get(key) ?? 0) + 1
    this.#seen.set(key, times)
    return times < sameAnswer.named ? undefined : { times, over: times >= sameAnswer.over }
  }

  /** A message of the model made sense or not; true when too many in a row did not. */
  judged(sensible: boolean): boolean {
    this.#stumbles = sensible ? 0 : this.#stumbles + 1
    return this.#stumbles >= mostStumbles
  }
}
