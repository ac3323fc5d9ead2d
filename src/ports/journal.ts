import type { EventMeta, NewEvent, StoredEvent } from '../contract/events/envelope.ts'
import type { Lease, NewWork } from '../contract/work.ts'

/** Events for one stream, on the condition that it is at `expected` (0: the stream does not exist yet). */
export interface StreamAppend {
  stream: string
  expected: number
  events: NewEvent[]
}

/** One transaction: all of it or none. */
export interface AppendRequest {
  streams: StreamAppend[]
  meta: EventMeta
  enqueue?: NewWork[]
  /** Work that this append completes. If the lease was lost meanwhile, nothing is written. */
  settles?: Pick<Lease, 'key' | 'owner' | 'fence'>
  /** Work that goes on after this append. If the lease was lost meanwhile, nothing is written. */
  holds?: Pick<Lease, 'key' | 'owner' | 'fence'>
}

export type AppendResult =
  | { ok: true; events: StoredEvent[] }
  | { ok: false; code: 'version_conflict'; stream: string; expected: number; actual: number }
  | { ok: false; code: 'lease_lost'; key: string }

/** A fold kept up to date inside the append transaction. Pure, so that it can be rebuilt from the journal and compared. */
export interface View<Row = unknown> {
  name: string
  /** Rows that the event touches. */
  keys(event: StoredEvent): string[]
  /** `undefined` removes the row. */
  fold(row: Row | undefined, event: StoredEvent, key: string): Row | undefined
}

/** Where a chain breaks. */
export interface ChainBreak {
  stream: string
  version: number
  position: number | null
  problem: string
}
export interface Verification {
  events: number
  streams: number
  breaks: ChainBreak[]
}

export interface ClaimRequest {
  owner: string
  kinds?: string[]
  scopes?: string[]
  limit: number
  leaseMs: number
}

/** Work as it was enqueued, without who has it. */
export type QueuedWork = Omit<NewWork, 'delayMs'>

/**
 * The append-only, hash-chained log; views and work change in the same transaction.
 * A resolved `append` is durable. A rejected promise means that nothing was acknowledged, and carries a `JournalFault`.
 */
export interface Journal {
  append(request: AppendRequest): Promise<AppendResult>
  readStream(stream: string, afterVersion?: number): Promise<StoredEvent[]>
  /** Events of all streams in the order of their positions, after the given one. */
  read(afterPosition: number, limit: number): Promise<StoredEvent[]>
  /** Of the `limit` events after a position those of these types, and the position of the last that was looked at. */
  readTypes(types: readonly string[], afterPosition: number, limit: number): Promise<{ events: StoredEvent[]; position: number }>
  /** Position of the latest event; 0 for an empty journal. */
  position(): Promise<number>
  /** Head version of a stream; 0 if it does not exist. */
  head(stream: string): Promise<number>
  /** Resolves when something after `position` may have been appended by any process, or after `timeoutMs`. */
  waitForNews(position: number, timeoutMs: number): Promise<void>

  viewRow(view: string, key: string): Promise<unknown>
  /** Rows in the order of their keys, after `afterKey`. */
  viewRows(view: string, range?: { prefix?: string; afterKey?: string; limit?: number }): Promise<{ key: string; row: unknown }[]>
  /** Folds the journal anew and names every row that differs from what is stored: somebody changed it by hand. Stores nothing. */
  compareViews(): Promise<{ view: string; key: string }[]>
  /** Folds the journal anew; names every row that differs from what is stored, then stores the fold. */
  rebuildViews(): Promise<{ view: string; key: string }[]>

  /** Takes due work whose lease is free or has ended. */
  claim(request: ClaimRequest): Promise<Lease[]>
  /** Renews; false when the lease was lost. */
  beat(lease: Lease, leaseMs: number): Promise<boolean>
  /** Gives work back, due again after `delayMs`; false when the lease was lost. */
  release(lease: Lease, delayMs: number): Promise<boolean>
  /** Completes work that came to no event; false when the lease was lost. */
  complete(lease: Lease): Promise<boolean>
  /** Ends the leases of owners that are known to be dead, so that their work need not wait for the lease to run out. */
  reclaim(isDead: (owner: string) => boolean): Promise<number>
  /** Work that is queued, of these scopes and kinds alone where they are named. */
  workCount(scopes?: string[], kinds?: string[]): Promise<{ due: number; leased: number; later: number }>

  /** All work that is queued, whoever has it; for proving that nothing is missing. */
  queued(): Promise<QueuedWork[]>

  /** Recomputes every chain from stored bytes. */
  verify(): Promise<Verification>
  close(): Promise<void>
}

export type FaultCode = 'disk_full' | 'read_only' | 'corrupt' | 'not_a_journal' | 'busy' | 'io' | 'closed'

/** The store itself failed. Never a verdict about the work, never swallowed. */
export class JournalFault extends Error {
  readonly code: FaultCode
  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'JournalFault'
    this.code = code
  }
}
