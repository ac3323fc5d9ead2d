import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assertName, bodyOf, storedEvent } from '../../contract/chain.ts'
import { type ChainedEvent, eventHash, genesisOf, placeHash } from '../../contract/events/links.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { AppendRequest, AppendResult, View } from '../../ports/journal.ts'
import type { Head } from './file/head.ts'
import { damaged, EventTable } from './tables/events.ts'
import { ViewFold } from './tables/views.ts'
import { type PreparedWork, prepareWork, WorkTable } from './tables/work.ts'

/** A request turned into the texts that will be stored, before any lock is taken. */
export interface PreparedAppend {
  streams: { stream: string; expected: number; bodies: string[] }[]
  enqueue: PreparedWork[]
  settles: AppendRequest['settles']
  holds: AppendRequest['holds']
}

const maxEventsPerAppend = 100_000
/** Shared by all streams that an append only rests on: there may be very many. */
const nothing: string[] = []

export function prepareAppend(request: AppendRequest): PreparedAppend {
  const events = request.streams.reduce((sum, { events }) => sum + events.length, 0)
  if (events > maxEventsPerAppend) throw new RangeError(`${events} events are over the limit of ${maxEventsPerAppend} for one append`)
  const streams = request.streams.map(({ stream, expected, events }) => {
    assertName('a stream', stream)
    return { stream, expected, bodies: events.length === 0 ? nothing : events.map((event) => bodyOf(event, request.meta)) }
  })
  return { streams, enqueue: (request.enqueue ?? []).map(prepareWork), settles: request.settles, holds: request.holds }
}

/** The one row of `journal`. */
export interface JournalRow {
  position: number
  place: string
  fence: number
  news: number
  views: string
}

interface StreamEnd {
  version: number
  hash: string
}

/**
 * What one transaction has read and is about to write. Requests are checked one after the other against what those before them did;
 * a refused one leaves no trace. Stream heads, view rows and the journal's row are written once, at the end.
 */
export class Batch {
  readonly events: EventTable
  readonly work: WorkTable
  readonly fold: ViewFold
  readonly #views: readonly View[]
  readonly #readRow: StatementSync
  readonly #writeRow: StatementSync
  #row: JournalRow = { position: 0, place: '', fence: 0, news: 0, views: '{}' }
  #rowBefore = this.#row
  #heads = new Map<string, StreamEnd>()
  /** The record of how far views are folded as it was last read or written, with its text. */
  #folded: { text: string; positions: Readonly<Record<string, number>> } = { text: '{}', positions: {} }
  #catchingUp = false

  constructor(db: DatabaseSync, views: readonly View[]) {
    this.events = new EventTable(db)
    this.work = new WorkTable(db)
    this.fold = new ViewFold(db, views, 'view_rows')
    this.#views = views
    this.#readRow = db.prepare('SELECT position, place, fence, news, views FROM journal WHERE id = 1')
    this.#writeRow = db.prepare('UPDATE journal SET position = ?, place = ?, fence = ?, news = ?, views = ? WHERE id = 1')
  }

  journalRow(): JournalRow {
    const row = this.#readRow.get() as JournalRow | undefined
    if (row === undefined) throw damaged('its own record of where it ends is missing')
    return row
  }

  /** Call right after the write lock was taken. */
  start(): void {
    this.#heads = new Map()
    this.fold.discard()
    this.#rowBefore = this.journalRow()
    this.#row = { ...this.#rowBefore }
    this.#catchUp()
  }

  /** Views that this process folds and that are behind: new ones, and those that another version's appends passed by. */
  lagging(row: JournalRow): { view: View; from: number }[] {
    const folded = this.#foldedOf(row.views)
    return this.#views.map((view) => ({ view, from: folded[view.name] ?? 0 })).filter(({ from }) => from !== row.position)
  }

  #catchUp(): void {
    const lagging = this.lagging(this.#row)
    this.#catchingUp = lagging.length > 0
    for (const { view, from } of lagging) {
      for (const event of this.events.every(from)) {
        this.fold.apply([event], [view])
        if (this.fold.full) this.fold.flush()
      }
    }
  }

  append(request: PreparedAppend, now: number): AppendResult {
    for (const lease of [request.settles, request.holds])
      if (lease !== undefined && !this.work.holds(lease)) return { ok: false, code: 'lease_lost', key: lease.key }
    const heads = new Map<string, StreamEnd>()
    const rows: ChainedEvent[] = []
    for (const { stream, expected, bodies } of request.streams) {
      let head = heads.get(stream) ?? this.#headOf(stream)
      if (head.version !== expected) return { ok: false, code: 'version_conflict', stream, expected, actual: head.version }
      for (const body of bodies) {
        const version = head.version + 1
        const hash = eventHash(head.hash, stream, version, body)
        rows.push({ position: this.#row.position + rows.length + 1, stream, version, prev: head.hash, hash, body })
        head = { version, hash }
      }
      if (bodies.length > 0) heads.set(stream, head)
    }
    const events = rows.map(storedEvent)
    this.fold.apply(events)
    this.#write(request, rows, heads, now)
    return { ok: true, events }
  }

  /** From here on only the store itself can fail, and then the whole transaction does. */
  #write(request: PreparedAppend, rows: ChainedEvent[], heads: Map<string, StreamEnd>, now: number): void {
    for (const row of rows) {
      this.#row.position = row.position
      this.#row.place = placeHash(this.#row.place, row.position, row.hash)
      this.events.insert(row, this.#row.place)
    }
    for (const [stream, head] of heads) this.#heads.set(stream, head)
    if (request.settles !== undefined) this.work.remove(request.settles.key)
    for (const work of request.enqueue) this.work.enqueue(work, now)
    if (rows.length > 0 || request.enqueue.length > 0) this.announce()
  }

  #headOf(stream: string): StreamEnd {
    return this.#heads.get(stream) ?? this.events.head(stream) ?? { version: 0, hash: genesisOf(stream) }
  }

  nextFence(): number {
    this.#row.fence += 1
    return this.#row.fence
  }

  #foldedOf(text: string): Readonly<Record<string, number>> {
    if (text !== this.#folded.text) this.#folded = { text, positions: foldedOf(text) }
    return this.#folded.positions
  }

  #foldedTo({ views, position }: JournalRow): string {
    const positions = { ...this.#foldedOf(views) }
    for (const view of this.#views) positions[view.name] = position
    const text = JSON.stringify(positions)
    this.#folded = { text, positions }
    return text
  }

  /** Something happened that waiting processes want to know. */
  announce(): void {
    this.#row.news += 1
  }

  /** From where to where the chain over all events came in this transaction; undefined where it added none. */
  get advanced(): { from: number; to: Head } | undefined {
    const { position, place } = this.#row
    const from = this.#rowBefore.position
    return position === from ? undefined : { from, to: { position, place } }
  }

  get announced(): boolean {
    return this.#row.news !== this.#rowBefore.news
  }

  /** Events of the whole journal, as this transaction sees it. */
  everyEvent(): Generator<StoredEvent> {
    return this.events.every(0)
  }

  /** Writes what was gathered. Call right before the commit. */
  finish(): void {
    for (const [stream, head] of this.#heads) this.events.setHead({ stream, ...head })
    this.fold.flush()
    if (this.#catchingUp || this.#row.position !== this.#rowBefore.position) this.#row.views = this.#foldedTo(this.#row)
    const { position, place, fence, news, views } = this.#row
    const before = this.#rowBefore
    if (position !== before.position || fence !== before.fence || news !== before.news || views !== before.views) {
      this.#writeRow.run(position, place, fence, news, views)
    }
  }
}

/** How far each view is folded, by its name. */
function foldedOf(text: string): Record<string, number> {
  try {
    const folded: unknown = JSON.parse(text)
    if (typeof folded === 'object' && folded !== null && Object.values(folded).every(Number.isSafeInteger)) return { ...folded }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw damaged('its own record of how far its lists have come cannot be read')
}
