import { assertName } from '../../contract/chain.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { View } from '../../ports/journal.ts'

/** A row's text; `null` where the row was removed. */
type Rows = Map<string, { view: string; key: string; text: string | null }>

/** View rows in memory, kept as text. */
export class MemoryViews {
  readonly #views: readonly View[]
  #rows = new Map<string, Map<string, string>>()

  constructor(views: readonly View[]) {
    if (new Set(views.map((view) => view.name)).size !== views.length) throw new TypeError('two views have the same name')
    this.#views = views
  }

  /** All of the events or, when a fold throws, none. */
  apply(events: readonly StoredEvent[]): void {
    const changed: Rows = new Map()
    for (const event of events) {
      for (const view of this.#views) {
        for (const key of new Set(view.keys(event))) {
          assertName(`a key of view ${view.name}`, key)
          const id = `${view.name}\n${key}`
          const before = (changed.get(id) ?? { text: this.#rows.get(view.name)?.get(key) ?? null }).text
          const row = view.fold(before === null ? undefined : JSON.parse(before), event, key)
          changed.set(id, { view: view.name, key, text: row === undefined ? null : JSON.stringify(row) })
        }
      }
    }
    for (const { view, key, text } of changed.values()) this.#set(view, key, text)
  }

  #set(view: string, key: string, text: string | null): void {
    const rows = this.#rows.get(view) ?? new Map<string, string>()
    this.#rows.set(view, rows)
    if (text === null) rows.delete(key)
    else rows.set(key, text)
  }

  one(view: string, key: string): unknown {
    const text = this.#rows.get(view)?.get(key)
    return text === undefined ? undefined : JSON.parse(text)
  }

  range(view: string, { prefix = '', afterKey, limit = Number.POSITIVE_INFINITY }: { prefix?: string; afterKey?: string; limit?: number }) {
    const rows = [...(this.#rows.get(view) ?? [])].filter(
      ([key]) => key.startsWith(prefix) && (afterKey === undefined || inOrder(afterKey, key) < 0),
    )
    const sorted = rows.sort(([a], [b]) => inOrder(a, b)).slice(0, Math.max(0, limit))
    return sorted.map(([key, text]) => ({ key, row: JSON.parse(text) as unknown }))
  }

  /** Names the rows that differ from a fresh fold; `store` puts the fold in their place. */
  refold(events: readonly StoredEvent[], store: boolean): { view: string; key: string }[] {
    const anew = new MemoryViews(this.#views)
    for (const event of events) anew.apply([event])
    const differing: { view: string; key: string }[] = []
    for (const { name } of this.#views) {
      const stored = this.#rows.get(name) ?? new Map<string, string>()
      const fresh = anew.#rows.get(name) ?? new Map<string, string>()
      for (const key of [...new Set([...stored.keys(), ...fresh.keys()])].sort(inOrder)) {
        if (stored.get(key) !== fresh.get(key)) differing.push({ view: name, key })
      }
    }
    if (store) this.#rows = anew.#rows
    return differing
  }
}

/** By code point, as the stored adapters order text. */
function inOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
