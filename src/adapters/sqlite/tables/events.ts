import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type StreamHead, storedEvent } from '../../../contract/chain.ts'
import { type ChainedEvent, contentMatches } from '../../../contract/events/links.ts'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import { JournalFault } from '../../../ports/journal.ts'

const columns = 'position, stream, version, prev, hash, body'

/** Events and stream heads. Nothing is handed to a reader that does not match its hash: damage stops the runtime rather than bending it. */
export class EventTable {
  readonly #db: DatabaseSync
  readonly #insert: StatementSync
  readonly #upsertHead: StatementSync
  readonly #head: StatementSync
  readonly #ofStream: StatementSync
  readonly #after: StatementSync
  readonly #count: StatementSync
  readonly #ofTypes: StatementSync

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#insert = db.prepare('INSERT INTO events (position, stream, version, prev, hash, place, body) VALUES (?, ?, ?, ?, ?, ?, ?)')
    this.#upsertHead = db.prepare(
      `INSERT INTO streams (stream, version, hash) VALUES (?, ?, ?)
       ON CONFLICT (stream) DO UPDATE SET version = excluded.version, hash = excluded.hash`,
    )
    this.#head = db.prepare('SELECT version, hash FROM streams WHERE stream = ?')
    this.#ofStream = db.prepare(`SELECT ${columns} FROM events WHERE stream = ? AND version > ? ORDER BY version`)
    this.#after = db.prepare(`SELECT ${columns} FROM events WHERE position > ? ORDER BY position LIMIT ?`)
    // What cannot be read is given out too, and found to be damaged.
    this.#ofTypes = db.prepare(
      `SELECT ${columns} FROM events WHERE position > ? AND position <= ?
       AND (NOT json_valid(body) OR json_extract(body, '$.type') IN (SELECT value FROM json_each(?))) ORDER BY position`,
    )
    this.#count = db.prepare('SELECT count(*) AS n FROM events WHERE position > ? AND position <= ?')
  }

  /** Joins a transaction that is open; otherwise makes one for the reads. */
  #inOneMoment<T>(read: () => T): T {
    if (this.#db.isTransaction) return read()
    this.#db.exec('BEGIN')
    try {
      return read()
    } finally {
      this.#db.exec('COMMIT')
    }
  }

  insert(event: ChainedEvent, place: string): void {
    this.#insert.run(event.position, event.stream, event.version, event.prev, event.hash, place, event.body)
  }

  setHead({ stream, version, hash }: StreamHead): void {
    this.#upsertHead.run(stream, version, hash)
  }

  head(stream: string): { version: number; hash: string } | undefined {
    return this.#head.get(stream) as { version: number; hash: string } | undefined
  }

  /** Head and rows are of one moment: the rows end exactly at the head, and nothing stands before the first position or beyond the head. */
  ofStream(stream: string, afterVersion: number): StoredEvent[] {
    const { head, rows } = this.#inOneMoment(() => ({
      head: this.head(stream),
      rows: this.#ofStream.all(stream, afterVersion) as unknown as ChainedEvent[],
    }))
    const follows = rows.every(
      (row, index) => row.version === afterVersion + 1 + index && (index === 0 || row.prev === rows[index - 1]?.hash),
    )
    const last = rows.at(-1)
    const endsAtHead = last === undefined ? (head?.version ?? 0) <= afterVersion : head?.version === last.version && head.hash === last.hash
    if (!follows || !endsAtHead || rows.some((row) => row.position < 1))
      throw damaged(`stream ${stream} is not whole after version ${afterVersion}`)
    return rows.map(intact)
  }

  after(position: number, limit: number): StoredEvent[] {
    const rows = this.#after.all(position, limit) as unknown as ChainedEvent[]
    const gap = rows.findIndex((row, index) => row.position !== position + 1 + index)
    if (gap >= 0) throw damaged(`the event at position ${position + 1 + gap} is missing`)
    return rows.map(intact)
  }

  /** Events of these types from after one position to another. None of the others is read, but that they are there. */
  ofTypes(types: readonly string[], after: number, to: number): StoredEvent[] {
    const { n } = this.#count.get(after, to) as { n: number }
    if (n !== to - after) throw damaged(`of the events from position ${after + 1} to ${to} some are missing`)
    const rows = this.#ofTypes.all(after, to, JSON.stringify(types)) as unknown as ChainedEvent[]
    return rows.map(intact)
  }

  /** All events after a position, in pages, so that memory stays flat. */
  *every(position: number, pageSize = 500): Generator<StoredEvent> {
    let last = position
    for (;;) {
      const page = this.after(last, pageSize)
      yield* page
      if (page.length < pageSize) return
      last = page.at(-1)?.position ?? last
    }
  }
}

function intact(row: ChainedEvent): StoredEvent {
  if (!contentMatches(row)) throw damaged(`event ${row.position} (stream ${row.stream}, version ${row.version}) does not match its hash`)
  return storedEvent(row)
}

export function damaged(what: string): JournalFault {
  return new JournalFault(
    'corrupt',
    `The journal was changed by hand or damaged: ${what}. Run \`assay audit verify\`, and restore the last backup`,
  )
}
