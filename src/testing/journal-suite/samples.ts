import type { NewEvent, StoredEvent } from '../../contract/events/envelope.ts'
import type { NewWork } from '../../contract/work.ts'
import type { AppendResult, Journal, View } from '../../ports/journal.ts'

export const meta = { at: '2026-01-01T00:00:00.000Z', actor: 'tester' }

export function happened(n: unknown): NewEvent {
  return { type: 'test.happened', v: 1, data: { n } }
}

export function workOf(key: string, more: Partial<NewWork> = {}): NewWork {
  return { key, kind: 'dig', scope: 'garden', priority: 1, payload: { key }, ...more }
}

/** Appends and insists on success. */
export async function appended(journal: Journal, stream: string, expected: number, ...values: unknown[]): Promise<StoredEvent[]> {
  return succeeded(await journal.append({ streams: [{ stream, expected, events: values.map(happened) }], meta }))
}

export function succeeded(result: AppendResult): StoredEvent[] {
  if (!result.ok) throw new Error(`the append was refused: ${JSON.stringify(result)}`)
  return result.events
}

export async function enqueued(journal: Journal, ...work: NewWork[]): Promise<void> {
  succeeded(await journal.append({ streams: [], enqueue: work, meta }))
}

/** One row per stream: how many events it has and the last value. An event with the value `'gone'` removes the row, `'bug'` makes the fold throw. */
export const lastValues: View<{ events: number; last: unknown }> = {
  name: 'last-values',
  keys: (event) => [event.stream],
  fold: (row, event) => {
    const { n } = event.data as { n: unknown }
    if (n === 'bug') throw new Error('a bug in a fold')
    return n === 'gone' ? undefined : { events: (row?.events ?? 0) + 1, last: n }
  },
}

/** One row for the whole journal. */
export const total: View<{ events: number; position: number }> = {
  name: 'total',
  keys: () => ['all'],
  fold: (row, event) => ({ events: (row?.events ?? 0) + 1, position: event.position }),
}

/** A clock that stands still until the test moves it. */
export function stoppedClock(): { now(): number; pass(ms: number): void } {
  let time = 1_750_000_000_000
  return {
    now: () => time,
    pass: (ms) => {
      time += ms
    },
  }
}
