/** Random choices that a seed repeats. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }

  one<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)]
    if (picked === undefined) throw new RangeError('there is nothing to choose from')
    return picked
  }

  /** Two members that are not the same one. */
  two<T>(list: readonly T[]): [T, T] {
    const first = this.below(list.length)
    const second = (first + 1 + this.below(list.length - 1)) % list.length
    return [list[first] as T, list[second] as T]
  }
}
