import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assertName } from '../../../contract/chain.ts'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { View } from '../../../ports/journal.ts'

/** Rows folded in memory before they are written; bounds what a long fold holds. */
const maxBufferedRows = 5000

/** A row's text by view and key; `null` where the row was removed. */
type Rows = Map<string, { view: string; key: string; text: string | null }>

/**
 * Folds events into rows of one table. Rows pass through their JSON text at every event, so that folding one by one, in batches
 * and from the start give the same text.
 */
export class ViewFold {
  readonly #views: readonly View[]
  readonly #select: StatementSync
  readonly #upsert: StatementSync
  readonly #delete: StatementSync
  #rows: Rows = new Map()

  constructor(db: DatabaseSync, views: readonly View[], table: 'view_rows' | 'temp.fresh_rows') {
    this.#views = views
    this.#select = db.prepare(`SELECT row FROM ${table} WHERE view = ? AND key = ?`)
    this.#upsert = db.prepare(
      `INSERT INTO ${table} (view, key, row) VALUES (?, ?, ?) ON CONFLICT (view, key) DO UPDATE SET row = excluded.row`,
    )
    this.#delete = db.prepare(`DELETE FROM ${table} WHERE view = ? AND key = ?`)
  }

  /** All of the events or, when a fold throws, none. */
  apply(events: readonly StoredEvent[], views = this.#views): void {
    const changed: Rows = new Map()
    for (const event of events) {
      for (const view of views) for (const key of new Set(view.keys(event))) this.#foldOne(changed, view, key, event)
    }
    for (const [id, row] of changed) this.#rows.set(id, row)
  }

  #foldOne(changed: Rows, view: View, key: string, event: StoredEvent): void {
    assertName(`a key of view ${view.name}`, key)
    const id = `${view.name}\n${key}`
    const before = (changed.get(id) ?? this.#rows.get(id) ?? { text: this.#stored(view.name, key) }).text
    const row = view.fold(before === null ? undefined : JSON.parse(before), event, key)
    changed.set(id, { view: view.name, key, text: row === undefined ? null : JSON.stringify(row) })
  }

  #stored(view: string, key: string): string | null {
    const found = this.#select.get(view, key) as { row: string } | undefined
    return found?.row ?? null
  }

  get full(): boolean {
    return this.#rows.size >= maxBufferedRows
  }

  /** Writes what is buffered. Called before the transaction commits. */
  flush(): void {
    for (const { view, key, text } of this.#rows.values()) {
      if (text === null) this.#delete.run(view, key)
      else this.#upsert.run(view, key, text)
    }
    this.#rows = new Map()
  }

  /** Forgets what is buffered, because its transaction was rolled back. */
  discard(): void {
    this.#rows = new Map()
  }
}

export class ViewRows {
  readonly #one: StatementSync
  readonly #from: StatementSync
  readonly #after: StatementSync
  readonly #between: StatementSync

  constructor(db: DatabaseSync) {
    this.#one = db.prepare('SELECT row FROM view_rows WHERE view = ? AND key = ?')
    this.#from = db.prepare('SELECT key, row FROM view_rows WHERE view = ? AND key >= ? ORDER BY key')
    this.#after = db.prepare('SELECT key, row FROM view_rows WHERE view = ? AND key > ? ORDER BY key')
    this.#between = db.prepare('SELECT key, row FROM view_rows WHERE view = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?')
  }

  one(view: string, key: string): unknown {
    const found = this.#one.get(view, key) as { row: string } | undefined
    return found === undefined ? undefined : JSON.parse(found.row)
  }

  range(view: string, { prefix = '', afterKey, limit = Number.POSITIVE_INFINITY }: { prefix?: string; afterKey?: string; limit?: number }) {
    const rows: { key: string; row: unknown }[] = []
    if (limit <= 0) return rows
    const end = afterKey === undefined ? afterAll(prefix) : undefined
    if (end !== undefined) {
      const found = this.#between.all(view, prefix, end, Number.isFinite(limit) ? Math.ceil(limit) : -1) as { key: string; row: string }[]
      return found.map(({ key, row }) => ({ key, row: JSON.parse(row) as unknown }))
    }
    const continues = afterKey !== undefined && Buffer.compare(Buffer.from(afterKey), Buffer.from(prefix)) >= 0
    for (const found of continues ? this.#after.iterate(view, afterKey) : this.#from.iterate(view, prefix)) {
      const { key, row } = found as { key: string; row: string }
      if (!key.startsWith(prefix)) break
      rows.push({ key, row: JSON.parse(row) })
      if (rows.length >= limit) break
    }
    return rows
  }
}

/** The first text after all that begin like this, in the order of the store; undefined where there is none. */
function afterAll(prefix: string): string | undefined {
  const points = [...prefix]
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) as number
    // Halves of pairs stand in no name.
    if (point < 0x10ffff) return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
  }
  return undefined
}

/** Folds the given events from the start beside the stored rows, names the rows that differ, and with `store` puts the fold in their place. */
export function rebuildRows(
  db: DatabaseSync,
  views: readonly View[],
  events: Iterable<StoredEvent>,
  store: boolean,
): { view: string; key: string }[] {
  db.exec('DROP TABLE IF EXISTS temp.fresh_rows')
  db.exec('CREATE TEMP TABLE fresh_rows (view TEXT NOT NULL, key TEXT NOT NULL, row TEXT NOT NULL, PRIMARY KEY (view, key))')
  const fold = new ViewFold(db, views, 'temp.fresh_rows')
  for (const event of events) {
    fold.apply([event])
    if (fold.full) fold.flush()
  }
  fold.flush()
  const names = JSON.stringify(views.map((view) => view.name))
  const differing = db
    .prepare(
      `SELECT f.view, f.key FROM temp.fresh_rows f LEFT JOIN main.view_rows r USING (view, key) WHERE r.row IS NOT f.row
       UNION ALL
       SELECT r.view, r.key FROM main.view_rows r LEFT JOIN temp.fresh_rows f USING (view, key)
       WHERE f.row IS NULL AND r.view IN (SELECT value FROM json_each(?)) ORDER BY 1, 2`,
    )
    .all(names) as { view: string; key: string }[]
  if (store) {
    db.prepare('DELETE FROM main.view_rows WHERE view IN (SELECT value FROM json_each(?))').run(names)
    db.exec('INSERT INTO main.view_rows (view, key, row) SELECT view, key, row FROM temp.fresh_rows')
  }
  db.exec('DROP TABLE temp.fresh_rows')
  return differing.map(({ view, key }) => ({ view, key }))
}
