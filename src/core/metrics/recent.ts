import type { Score } from '../../contract/score.ts'

/** A score with its place in the journal, which orders scores of different tasks. */
export interface RecentScore {
  position: number
  on5: number
}

/** How many scores a trend looks back. */
export const recentLimit = 20

export function withRecent(recent: readonly RecentScore[], position: number, { on5 }: Score): RecentScore[] {
  return [...recent, { position, on5 }].slice(-recentLimit)
}

/** The latest of many, found without keeping all. */
export class RecentTotal {
  #scores: RecentScore[] = []

  add(recent: readonly RecentScore[]): void {
    this.#scores.push(...recent)
    if (this.#scores.length > 50 * recentLimit) this.#trim()
  }

  #trim(): void {
    this.#scores = this.#scores.sort((a, b) => a.position - b.position).slice(-recentLimit)
  }

  /** Oldest first. */
  get latest(): number[] {
    this.#trim()
    return this.#scores.map(({ on5 }) => on5)
  }
}
