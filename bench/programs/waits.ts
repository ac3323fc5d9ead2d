import type { StoredEvent } from '../../src/contract/events/envelope.ts'
import type { TaskRow } from '../../src/engine/views/tasks.ts'

/** How long dependents wait once the last of what they depend on has ended, in milliseconds. */
export interface Waits {
  /** Until they may run, and until they do: in between they may have to wait for one of the workers. */
  ready: Spread
  started: Spread
}

export interface Spread {
  median: number
  p99: number
  most: number
}

/** Listens to a run. Times are those at which the process knew of the event: durable, and told to whoever listens. */
export class WaitCounter {
  readonly #ended = new Map<string, number>()
  readonly #ready: number[] = []
  readonly #started: number[] = []

  see({ type }: StoredEvent, row: TaskRow | undefined): void {
    if (!row) return
    if (type === 'task.accepted') this.#ended.set(row.id, performance.now())
    if (type === 'task.readied') this.#note(row, this.#ready)
    if (type === 'attempt.started') this.#note(row, this.#started)
  }

  #note({ dependsOn }: TaskRow, waits: number[]): void {
    let last = 0
    for (const dependency of dependsOn) last = Math.max(last, this.#ended.get(dependency) ?? 0)
    if (last > 0) waits.push(performance.now() - last)
  }

  /** Nothing where no task waited for another. */
  get waits(): Waits | undefined {
    return this.#started.length === 0 ? undefined : { ready: spread(this.#ready), started: spread(this.#started) }
  }
}

function spread(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { median: at(0.5), p99: at(0.99), most: at(1) }
}
