import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { wholeMilliseconds } from '../../contract/chain.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { Lease } from '../../contract/work.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  type AppendRequest,
  type AppendResult,
  type ClaimRequest,
  type Journal,
  JournalFault,
  type QueuedWork,
  type Verification,
  type View,
} from '../../ports/journal.ts'
import { Batch, prepareAppend } from './batch.ts'
import { Committer, type Durability } from './commit.ts'
import { faultOf } from './file/faults.ts'
import { HeadFile } from './file/head.ts'
import { isWritable, openDatabase, openForReading } from './file/open.ts'
import { queueClock } from './file/queue-clock.ts'
import { News } from './news.ts'
import { rebuildRows, ViewRows } from './tables/views.ts'
import { verifyFile } from './verify.ts'

export interface SqliteJournalOptions {
  /** The database file; its folder is created. */
  path: string
  /** A view whose fold changes gets a new name: rows are kept as they were folded. */
  views: readonly View[]
  /** Times leases and delays, the same for every process that has the journal open; without it, a clock that nobody can set. */
  clock?: Pick<Clock, 'now'>
  /** Only to look: a journal that cannot be written is read as it is, and refuses what is to be written. */
  looking?: boolean
}

/** Opens or creates a journal in one file. Several processes may have it open at once. Rejects with a `JournalFault`. */
export async function openSqliteJournal({ path, views, clock, looking = false }: SqliteJournalOptions): Promise<Journal> {
  const names = new Set(views.map((view) => view.name))
  if (names.size !== views.length) throw new TypeError('two views have the same name')
  const fixed = looking && existsSync(path) && !isWritable(path)
  const db = fixed ? openForReading(path) : await openDatabase(path)
  try {
    const journal = new SqliteJournal(db, path, views, clock ?? (fixed ? { now: Date.now } : queueClock(db)))
    if (!fixed) await journal.catchUp()
    return journal
  } catch (error) {
    db.close()
    throw faultOf(error, path)
  }
}

class SqliteJournal implements Journal {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #views: readonly View[]
  readonly #clock: Pick<Clock, 'now'>
  readonly #batch: Batch
  readonly #rows: ViewRows
  readonly #news: News
  readonly #head: HeadFile
  readonly #committer: Committer

  constructor(db: DatabaseSync, path: string, views: readonly View[], clock: Pick<Clock, 'now'>) {
    this.#db = db
    this.#path = path
    this.#views = views
    this.#clock = clock
    this.#batch = new Batch(db, views)
    this.#rows = new ViewRows(db)
    this.#news = new News(db, () => this.#batch.journalRow().news)
    this.#head = new HeadFile(path)
    this.#committer = new Committer(db, path, this.#batch, this.#head, () => this.#news.announce())
  }

  /** Folds what views have missed, so that the first reader finds them whole; and says where it ends, where nothing beside it does. */
  async catchUp(): Promise<void> {
    const row = this.#batch.journalRow()
    this.#head.begin(row)
    if (this.#batch.lagging(row).length > 0) await this.#committer.submit('durable', () => undefined)
  }

  async append(request: AppendRequest): Promise<AppendResult> {
    const prepared = prepareAppend(request)
    return this.#committer.submit('durable', (batch) => batch.append(prepared, this.#clock.now()))
  }

  async readStream(stream: string, afterVersion = 0): Promise<StoredEvent[]> {
    return this.#read(() => this.#batch.events.ofStream(stream, afterVersion))
  }

  async read(afterPosition: number, limit: number): Promise<StoredEvent[]> {
    return this.#read(() => this.#batch.events.after(afterPosition, limit))
  }

  async readTypes(types: readonly string[], afterPosition: number, limit: number): Promise<{ events: StoredEvent[]; position: number }> {
    return this.#read(() => {
      const position = Math.min(this.#batch.journalRow().position, afterPosition + limit)
      if (position <= afterPosition) return { events: [], position: afterPosition }
      return { events: this.#batch.events.ofTypes(types, afterPosition, position), position }
    })
  }

  async head(stream: string): Promise<number> {
    return this.#read(() => this.#batch.events.head(stream)?.version ?? 0)
  }

  async position(): Promise<number> {
    return this.#read(() => this.#batch.journalRow().position)
  }

  async waitForNews(position: number, timeoutMs: number): Promise<void> {
    const row = this.#read(() => this.#batch.journalRow())
    if (row.position <= position) await this.#news.wait(row.news, timeoutMs)
  }

  async viewRow(view: string, key: string): Promise<unknown> {
    return this.#read(() => this.#rows.one(view, key))
  }

  async viewRows(
    view: string,
    range: { prefix?: string; afterKey?: string; limit?: number } = {},
  ): Promise<{ key: string; row: unknown }[]> {
    return this.#read(() => this.#rows.range(view, range))
  }

  async rebuildViews(): Promise<{ view: string; key: string }[]> {
    return this.#committer.submit('durable', (batch) => {
      batch.fold.flush()
      return rebuildRows(this.#db, this.#views, batch.everyEvent(), true)
    })
  }

  async compareViews(): Promise<{ view: string; key: string }[]> {
    return this.#committer.submit('lease', (batch) => {
      batch.fold.flush()
      return rebuildRows(this.#db, this.#views, batch.everyEvent(), false)
    })
  }

  async claim(request: ClaimRequest): Promise<Lease[]> {
    const whole = { ...request, leaseMs: wholeMilliseconds('a lease', request.leaseMs) }
    if (request.limit <= 0 || !this.#read(() => this.#batch.work.mayClaim(request, this.#clock.now()))) return []
    return this.#committer.submit('lease', (batch) => batch.work.claim(whole, this.#clock.now(), () => batch.nextFence()))
  }

  async beat(lease: Lease, leaseMs: number): Promise<boolean> {
    const forMs = wholeMilliseconds('a lease', leaseMs)
    return this.#asHolder('lease', lease, (batch) => batch.work.renew(lease.key, this.#clock.now() + forMs))
  }

  async release(lease: Lease, delayMs: number): Promise<boolean> {
    const pauseMs = wholeMilliseconds('a delay', delayMs)
    return this.#asHolder('durable', lease, (batch) => {
      const now = this.#clock.now()
      batch.work.giveBack(lease.key, now + pauseMs, now)
      batch.announce()
    })
  }

  async complete(lease: Lease): Promise<boolean> {
    return this.#asHolder('durable', lease, (batch) => batch.work.remove(lease.key))
  }

  async reclaim(isDead: (owner: string) => boolean): Promise<number> {
    const dead = this.#read(() => this.#batch.work.owners()).filter(isDead)
    if (dead.length === 0) return 0
    return this.#committer.submit('lease', (batch) => {
      const ended = dead.reduce((sum, owner) => sum + batch.work.endLeases(owner, this.#clock.now()), 0)
      if (ended > 0) batch.announce()
      return ended
    })
  }

  async workCount(scopes?: string[], kinds?: string[]): Promise<{ due: number; leased: number; later: number }> {
    return this.#read(() => this.#batch.work.counts(this.#clock.now(), scopes, kinds))
  }

  async queued(): Promise<QueuedWork[]> {
    return this.#read(() => this.#batch.work.all())
  }

  async verify(): Promise<Verification> {
    this.#committer.assertUsable()
    return verifyFile(this.#db, this.#clock.now(), () => this.#committer.assertUsable())
  }

  async close(): Promise<void> {
    await this.#committer.stop(new JournalFault('closed', `The journal was closed: ${this.#path}`))
    this.#news.announce()
    this.#head.close()
    if (this.#db.isOpen) this.#db.close()
  }

  #asHolder(durability: Durability, lease: Lease, change: (batch: Batch) => void): Promise<boolean> {
    return this.#committer.submit(durability, (batch) => {
      if (!batch.work.holds(lease)) return false
      change(batch)
      return true
    })
  }

  #read<T>(read: () => T): T {
    this.#committer.assertUsable()
    try {
      return read()
    } catch (error) {
      throw faultOf(error, this.#path)
    }
  }
}
