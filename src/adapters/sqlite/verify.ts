import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ChainVerifier, type StreamHead } from '../../contract/chain.ts'
import { type ChainedEvent, firstPlace, placeHash } from '../../contract/events/links.ts'
import type { Verification } from '../../ports/journal.ts'
import { isStoreError } from './file/faults.ts'
import { schemaProblems } from './file/strangers.ts'

interface Row extends ChainedEvent {
  place: string
}

const pageSize = 1000
/** Breaks that belong to no stream: the file itself. */
const wholeFile = '(journal)'

/**
 * Recomputes every chain from stored bytes: each stream's own, the one over all positions, and the heads that end them. Pages of
 * rows are read in turns of the event loop; what is appended meanwhile is read too. The last page, the heads and the journal's row
 * are read in one moment.
 */
export async function verifyFile(db: DatabaseSync, now: number, assertUsable: () => void): Promise<Verification> {
  const chain = new ChainVerifier()
  const places = new PlaceVerifier(chain)
  try {
    for (const problem of [...checkPages(db), ...schemaProblems(db), ...strangeRows(db), ...queueProblems(db, now)])
      chain.report({ stream: wholeFile, version: 0, position: null, problem })
    while (verifyPage(db, chain, places)) {
      await nextTurn()
      assertUsable()
    }
  } catch (error) {
    if (!isStoreError(error)) throw error
    const problem = `the file cannot be read after position ${places.last}: ${error.message}`
    chain.report({ stream: wholeFile, version: 0, position: places.last + 1, problem })
  }
  return { events: chain.events, streams: chain.streams, breaks: chain.breaks }
}

/** False after the last page. */
function verifyPage(db: DatabaseSync, chain: ChainVerifier, places: PlaceVerifier): boolean {
  db.exec('BEGIN')
  try {
    let count = 0
    const page = 'SELECT position, stream, version, prev, hash, place, body FROM events WHERE position > ? ORDER BY position LIMIT ?'
    for (const row of rowsOf<Row>(db, page, places.after, pageSize)) {
      places.feed(row)
      count += 1
    }
    if (count === pageSize) return true
    chain.finish(rowsOf<StreamHead>(db, 'SELECT stream, version, hash FROM streams'))
    places.finish([...rowsOf<{ position: number; place: string }>(db, 'SELECT position, place FROM journal')][0])
    return false
  } finally {
    db.exec('COMMIT')
  }
}

/** A hand-edited number may be larger than JavaScript's: read without loss, it fails the comparison instead of the reading. */
function* rowsOf<T>(db: DatabaseSync, sql: string, ...bound: number[]): Generator<T> {
  const statement = db.prepare(sql)
  statement.setReadBigInts(true)
  for (const row of statement.iterate(...bound)) {
    for (const column of ['position', 'version']) if (typeof row[column] === 'bigint') row[column] = Number(row[column])
    yield row as T
  }
}

/** Pages of the file, and whether its indexes tell what its tables hold. */
function checkPages(db: DatabaseSync): string[] {
  const found = db.prepare('PRAGMA integrity_check(10)').all() as { integrity_check: string }[]
  return found.map(({ integrity_check: text }) => text).filter((text) => text !== 'ok')
}

/** Rows of lists that no version of Assay has kept here. */
function strangeRows(db: DatabaseSync): string[] {
  const kept = "SELECT key FROM journal, json_each(CASE WHEN json_valid(views) THEN views ELSE '{}' END)"
  const found = db.prepare(`SELECT DISTINCT view FROM view_rows WHERE view NOT IN (${kept})`).all() as { view: string }[]
  return found.map(({ view }) => `there are rows of a list ${JSON.stringify(view)} that is not Assay's`)
}

/** Longer than work is ever put off, or a lease runs. */
const longestWaitMs = 366 * 24 * 3_600_000

/** What of the queue and of the counters cannot be as Assay writes it. What it calls for is held against the events elsewhere. */
function queueProblems(db: DatabaseSync, now: number): string[] {
  const named = (where: string, problem: string) => {
    const found = db.prepare(`SELECT key FROM work, journal WHERE ${where} ORDER BY seq LIMIT 100`).all() as { key: string }[]
    return found.map(({ key }) => `queued work ${JSON.stringify(key)}: ${problem}`)
  }
  const counted =
    'work.fence BETWEEN claims AND journal.fence AND claims >= postponed AND postponed >= 0 AND (work.fence = 0) = (claims = 0)'
  const counters = db.prepare('SELECT count(*) AS n FROM journal WHERE min(fence, news) < 0 OR max(fence, news) > 1 << 52').get() as {
    n: number
  }
  return [
    ...named('NOT json_valid(payload)', 'it cannot be read'),
    ...named(`NOT (${counted})`, 'it was claimed as nobody can have claimed it'),
    ...named('waiting NOT IN (0, 1) OR (waiting = 1 AND owner IS NOT NULL AND claims = 0)', 'it is in a state that work does not have'),
    ...named(`ready_at > ${Math.floor(now) + longestWaitMs}`, 'it is put off for longer than work ever is'),
    ...(counters.n > 0 ? ["the journal's own counts of claims and news are none"] : []),
  ]
}

/** Follows the chain over all positions. */
class PlaceVerifier {
  readonly #chain: ChainVerifier
  #place = firstPlace
  #last = 0
  #begun = false

  constructor(chain: ChainVerifier) {
    this.#chain = chain
  }

  get last(): number {
    return this.#last
  }

  /** Where reading goes on: below every number that a row could have been given by hand, until the first row was read. */
  get after(): number {
    return this.#begun ? this.#last : Number.MIN_SAFE_INTEGER
  }

  feed(row: Row): void {
    const intact = this.#chain.feed(row)
    const problem = this.#problemOf(row)
    this.#begun = true
    this.#last = row.position
    this.#place = row.place
    if (intact && problem !== undefined) this.#chain.report({ stream: row.stream, version: row.version, position: row.position, problem })
  }

  #problemOf(row: Row): string | undefined {
    if (row.position !== this.#last + 1) return `position ${this.#last + 1} was expected here: events are missing`
    if (row.place !== placeHash(this.#place, row.position, row.hash)) return 'the event was moved among the events of other streams'
    return undefined
  }

  finish(record: { position: number; place: string } | undefined): void {
    if (record?.position === this.#last && record.place === this.#place) return
    const problem = `the journal ends at position ${this.#last}, but its own record says ${record?.position ?? 'nothing'}`
    this.#chain.report({ stream: wholeFile, version: 0, position: this.#last, problem })
  }
}
