import { wholeMilliseconds, assertName, assertWork, bodyOf, ChainVerifier, storedEvent } from '../../contract/chain.ts'
import { type ChainedEvent, eventHash, genesisOf } from '../../contract/events/links.ts'
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
import { MemoryViews } from './views.ts'
import { payloadText, WorkList } from './work.ts'

/** What a timer can hold; a longer one would fire at once. */
const maxTimeoutMs = 2 ** 31 - 1

export interface MemoryJournalOptions {
  views: readonly View[]
  clock?: Pick<Clock, 'now'>
}

/** A journal that lives as long as its process: for tests, simulations and demos. Keeps texts, not objects, so that nobody can change what was written. */
export function openMemoryJournal({ views, clock = { now: Date.now } }: MemoryJournalOptions): Journal {
  return new MemoryJournal(views, clock)
}

class MemoryJournal implements Journal {
  readonly #clock: Pick<Clock, 'now'>
  readonly #events: ChainedEvent[] = []
  readonly #streams = new Map<string, ChainedEvent[]>()
  readonly #views: MemoryViews
  readonly #work = new WorkList()
  readonly #waiters = new Set<() => void>()
  #closed = false

  constructor(views: readonly View[], clock: Pick<Clock, 'now'>) {
    this.#views = new MemoryViews(views)
    this.#clock = clock
  }

  async append(request: AppendRequest): Promise<AppendResult> {
    this.#assertOpen()
    const bodies = request.streams.map(({ stream, events }) => {
      assertName('a stream', stream)
      return events.map((event) => bodyOf(event, request.meta))
    })
    for (const work of request.enqueue ?? []) assertWork(work)
    const enqueue = (request.enqueue ?? []).map(payloadText)
    const { settles } = request
    for (const lease of [settles, request.holds])
      if (lease !== undefined && !this.#work.holds(lease)) return { ok: false, code: 'lease_lost', key: lease.key }
    const planned = this.#plan(request, bodies)
    if (!planned.ok) return planned
    const events = planned.rows.map(storedEvent)
    this.#views.apply(events)
    for (const row of planned.rows) this.#keep(row)
    if (settles !== undefined) this.#work.remove(settles.key)
    for (const work of enqueue) this.#work.enqueue(work, this.#clock.now())
    if (events.length > 0 || enqueue.length > 0) this.#announce()
    return { ok: true, events }
  }

  #plan(
    { streams }: AppendRequest,
    bodies: string[][],
  ): { ok: true; rows: ChainedEvent[] } | Extract<AppendResult, { code: 'version_conflict' }> {
    const rows: ChainedEvent[] = []
    const heads = new Map<string, { version: number; hash: string }>()
    for (const [index, { stream, expected }] of streams.entries()) {
      let head = heads.get(stream) ?? this.#streams.get(stream)?.at(-1) ?? { version: 0, hash: genesisOf(stream) }
      if (head.version !== expected) return { ok: false, code: 'version_conflict', stream, expected, actual: head.version }
      for (const body of bodies[index] ?? []) {
        const version = head.version + 1
        const hash = eventHash(head.hash, stream, version, body)
        rows.push({ position: this.#events.length + rows.length + 1, stream, version, prev: head.hash, hash, body })
        head = { version, hash }
      }
      heads.set(stream, head)
    }
    return { ok: true, rows }
  }

  #keep(row: ChainedEvent): void {
    this.#events.push(row)
    const stream = this.#streams.get(row.stream)
    if (stream === undefined) this.#streams.set(row.stream, [row])
    else stream.push(row)
  }

  async readStream(stream: string, afterVersion = 0): Promise<StoredEvent[]> {
    this.#assertOpen()
    return (this.#streams.get(stream) ?? []).slice(afterVersion).map(storedEvent)
  }

  async read(afterPosition: number, limit: number): Promise<StoredEvent[]> {
    this.#assertOpen()
    return this.#events.slice(afterPosition, afterPosition + limit).map(storedEvent)
  }

  async readTypes(types: readonly string[], afterPosition: number, limit: number): Promise<{ events: StoredEvent[]; position: number }> {
    const page = await this.read(afterPosition, limit)
    return { events: page.filter(({ type }) => types.includes(type)), position: afterPosition + page.length }
  }

  async head(stream: string): Promise<number> {
    this.#assertOpen()
    return this.#streams.get(stream)?.length ?? 0
  }

  async position(): Promise<number> {
    this.#assertOpen()
    return this.#events.length
  }

  async waitForNews(position: number, timeoutMs: number): Promise<void> {
    this.#assertOpen()
    if (this.#events.length > position) return
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiters.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, Math.min(Math.max(0, timeoutMs), maxTimeoutMs))
      this.#waiters.add(wake)
    })
  }

  async viewRow(view: string, key: string): Promise<unknown> {
    this.#assertOpen()
    return this.#views.one(view, key)
  }

  async viewRows(
    view: string,
    range: { prefix?: string; afterKey?: string; limit?: number } = {},
  ): Promise<{ key: string; row: unknown }[]> {
    this.#assertOpen()
    return this.#views.range(view, range)
  }

  async rebuildViews(): Promise<{ view: string; key: string }[]> {
    this.#assertOpen()
    return this.#views.refold(this.#events.map(storedEvent), true)
  }

  async compareViews(): Promise<{ view: string; key: string }[]> {
    this.#assertOpen()
    return this.#views.refold(this.#events.map(storedEvent), false)
  }

  async claim(request: ClaimRequest): Promise<Lease[]> {
    this.#assertOpen()
    const whole = { ...request, leaseMs: wholeMilliseconds('a lease', request.leaseMs) }
    return this.#work.claim(whole, this.#clock.now())
  }

  async beat(lease: Lease, leaseMs: number): Promise<boolean> {
    const forMs = wholeMilliseconds('a lease', leaseMs)
    return this.#asHolder(lease, (now) => this.#work.renew(lease.key, now + forMs, now))
  }

  async release(lease: Lease, delayMs: number): Promise<boolean> {
    const pauseMs = wholeMilliseconds('a delay', delayMs)
    return this.#asHolder(lease, (now) => {
      this.#work.giveBack(lease.key, now + pauseMs, now)
      this.#announce()
    })
  }

  async complete(lease: Lease): Promise<boolean> {
    return this.#asHolder(lease, () => this.#work.remove(lease.key))
  }

  async reclaim(isDead: (owner: string) => boolean): Promise<number> {
    this.#assertOpen()
    const ended = this.#work.endLeases(isDead, this.#clock.now())
    if (ended > 0) this.#announce()
    return ended
  }

  async workCount(scopes?: string[], kinds?: string[]): Promise<{ due: number; leased: number; later: number }> {
    this.#assertOpen()
    return this.#work.counts(this.#clock.now(), scopes, kinds)
  }

  async queued(): Promise<QueuedWork[]> {
    this.#assertOpen()
    return this.#work.all()
  }

  async verify(): Promise<Verification> {
    this.#assertOpen()
    const chain = new ChainVerifier()
    for (const event of this.#events) chain.feed(event)
    chain.finish([...this.#streams].map(([stream, rows]) => ({ stream, version: rows.length, hash: rows.at(-1)?.hash ?? '' })))
    return { events: chain.events, streams: chain.streams, breaks: chain.breaks }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#announce()
  }

  #asHolder(lease: Lease, change: (now: number) => void): boolean {
    this.#assertOpen()
    if (!this.#work.holds(lease)) return false
    change(this.#clock.now())
    return true
  }

  #announce(): void {
    for (const wake of [...this.#waiters]) wake()
  }

  #assertOpen(): void {
    if (this.#closed) throw new JournalFault('closed', 'The journal was closed')
  }
}
