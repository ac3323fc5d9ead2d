import type { WorkKind } from '../contract/work.ts'

/** Kinds of work that share a bound, for one run or for several that share it. */
export class Lane {
  readonly kinds: WorkKind[]
  readonly limit: number
  /** Whether a stop lets the work finish within the grace time; the rest is safe to repeat and is given back at once. */
  readonly graceful: boolean
  #taken = 0
  readonly #waiting = new Set<() => void>()

  constructor(kinds: WorkKind[], limit: number, graceful: boolean) {
    this.kinds = kinds
    this.limit = limit
    this.graceful = graceful
  }

  /** Takes all the room that is left, to be given back by whoever does not use it. Where there is none, `stir` is called once there may be. */
  take(stir: () => void): number {
    const room = this.limit - this.#taken
    this.#taken = this.limit
    if (room === 0) this.#waiting.add(stir)
    return room
  }

  giveBack(room: number): void {
    if (room === 0) return
    this.#taken -= room
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const stir of waiting) stir()
  }
}

/** Workers have the configured concurrency to themselves, so that reviews never wait behind them. */
export function lanesFor(concurrency: number): Lane[] {
  return [
    new Lane(
      ['restore_snapshot', 'publish_merge', 'settle_dependents', 'settle_gate', 'retry_review', 'fan_out', 'hand_over', 'watch_worker'],
      8,
      true,
    ),
    new Lane(['notify'], 8, false),
    new Lane(['ask_judge'], concurrency * 3, false),
    new Lane(['run_checks', 'merge_work'], concurrency, false),
    new Lane(['run_attempt'], concurrency, true),
  ]
}
