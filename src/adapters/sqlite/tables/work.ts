import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { canonicalJson } from '../../../contract/canonical.ts'
import { assertWork } from '../../../contract/chain.ts'
import type { Lease, NewWork } from '../../../contract/work.ts'
import type { ClaimRequest, QueuedWork } from '../../../ports/journal.ts'

type Holder = Pick<Lease, 'key' | 'owner' | 'fence'>
interface WorkRow {
  seq: number
  key: string
  kind: string
  priority: number
  payload: string
  claims: number
  postponed: number
}
export interface WorkCounts {
  due: number
  leased: number
  later: number
}

/** Work to enqueue, with its payload as the text that is stored. */
export interface PreparedWork extends Omit<NewWork, 'payload'> {
  payload: string
}

/** Throws for work that the table would not take: one caller's bug must not meet the transaction that others share. */
export function prepareWork(work: NewWork): PreparedWork {
  assertWork(work)
  return { ...work, payload: canonicalJson(work.payload ?? null) }
}

/** The leased queue. What changes it runs inside a transaction that holds the write lock, so that what was read stays true. */
export class WorkTable {
  readonly #insert: StatementSync
  readonly #remove: StatementSync
  readonly #holder: StatementSync
  readonly #lease: StatementSync
  readonly #hold: StatementSync
  readonly #free: StatementSync
  readonly #endLeases: StatementSync
  readonly #ripen: StatementSync
  readonly #anyRipe: StatementSync
  readonly #all: StatementSync
  readonly #owners: StatementSync
  readonly #counts: StatementSync
  readonly #ready: ReadyWork
  readonly #dataVersion: StatementSync
  /** Changes of the table by this process, so that what was found before one is not believed after it. */
  #changes = 0
  /** Claims for which nothing was ready, as long as nobody has changed anything since. */
  #nothing = { stamp: '', claims: new Set<string>() }

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(
      `INSERT INTO work (key, kind, scope, priority, payload, owner, fence, claims, waiting, ready_at) VALUES (?, ?, ?, ?, ?, NULL, 0, 0, ?, ?)
       ON CONFLICT (key) DO NOTHING`,
    )
    this.#remove = db.prepare('DELETE FROM work WHERE key = ?')
    this.#holder = db.prepare('SELECT owner, fence FROM work WHERE key = ?')
    this.#lease = db.prepare('UPDATE work SET owner = ?, fence = ?, claims = claims + 1, waiting = 1, ready_at = ? WHERE seq = ?')
    this.#hold = db.prepare('UPDATE work SET waiting = 1, ready_at = ? WHERE key = ?')
    this.#free = db.prepare(
      'UPDATE work SET owner = NULL, waiting = :later, postponed = postponed + :later, ready_at = :at WHERE key = :key',
    )
    this.#endLeases = db.prepare('UPDATE work SET waiting = 0, ready_at = :now WHERE waiting = 1 AND ready_at > :now AND owner = :owner')
    // Not what the claimant holds itself: it is at work on that, and where its lease seems to have ended, the clock was set forward.
    this.#ripen = db.prepare('UPDATE work SET waiting = 0 WHERE waiting = 1 AND ready_at <= ? AND owner IS NOT ?')
    this.#anyRipe = db.prepare('SELECT EXISTS (SELECT 1 FROM work WHERE waiting = 1 AND ready_at <= ? AND owner IS NOT ?) AS ripe')
    this.#all = db.prepare('SELECT key, kind, scope, priority, payload FROM work ORDER BY seq')
    this.#owners = db.prepare('SELECT DISTINCT owner FROM work WHERE waiting = 1 AND owner IS NOT NULL')
    this.#counts = db.prepare(
      `SELECT count(*) FILTER (WHERE waiting = 0 OR ready_at <= :now) AS due,
              count(*) FILTER (WHERE waiting = 1 AND ready_at > :now AND owner IS NOT NULL) AS leased,
              count(*) FILTER (WHERE waiting = 1 AND ready_at > :now AND owner IS NULL) AS later
       FROM work WHERE (:scopes IS NULL OR scope IN (SELECT value FROM json_each(:scopes)))
         AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))`,
    )
    this.#ready = new ReadyWork(db)
    this.#dataVersion = db.prepare('PRAGMA data_version')
  }

  enqueue(work: PreparedWork, now: number): void {
    const { key, kind, scope, priority, payload, delayMs = 0 } = work
    this.#changes += 1
    this.#insert.run(key, kind, scope, priority, payload, delayMs > 0 ? 1 : 0, now + Math.ceil(delayMs))
  }

  /** An ended lease is still its holder's until somebody else takes the work. */
  holds(holder: Holder): boolean {
    const row = this.#holder.get(holder.key) as { owner: string | null; fence: number } | undefined
    return row !== undefined && row.owner === holder.owner && row.fence === holder.fence
  }

  remove(key: string): void {
    this.#remove.run(key)
  }

  renew(key: string, until: number): void {
    this.#hold.run(until, key)
  }

  giveBack(key: string, readyAt: number, now: number): void {
    this.#changes += 1
    this.#free.run({ later: readyAt > now ? 1 : 0, at: readyAt, key })
  }

  /** Asked without a transaction, so that idle processes do not stand in line for the write lock. */
  mayClaim(request: ClaimRequest, now: number): boolean {
    if ((this.#anyRipe.get(now, request.owner) as { ripe: number }).ripe === 1) return true
    const stamp = `${this.#changes} ${(this.#dataVersion.get() as { data_version: number }).data_version}`
    if (stamp !== this.#nothing.stamp) this.#nothing = { stamp, claims: new Set() }
    const claim = JSON.stringify([request.kinds, request.scopes])
    if (this.#nothing.claims.has(claim)) return false
    const found = this.#ready.first({ ...request, limit: 1 }).length > 0
    if (!found) this.#nothing.claims.add(claim)
    return found
  }

  /** `nextFence` gives a number that no claim had before. */
  claim(request: ClaimRequest, now: number, nextFence: () => number): Lease[] {
    this.#changes += 1
    this.#ripen.run(now, request.owner)
    const until = now + request.leaseMs
    return this.#ready.first(request).map((row) => {
      const fence = nextFence()
      this.#lease.run(request.owner, fence, until, row.seq)
      const { key, kind, claims, postponed } = row
      return { key, kind, payload: JSON.parse(row.payload), owner: request.owner, fence, claims: claims + 1, postponed, until }
    })
  }

  all(): QueuedWork[] {
    const rows = this.#all.all() as unknown as PreparedWork[]
    return rows.map(({ payload, ...row }) => ({ ...row, payload: JSON.parse(payload) }))
  }

  owners(): string[] {
    return (this.#owners.all() as { owner: string }[]).map(({ owner }) => owner)
  }

  /** How many leases were ended. */
  endLeases(owner: string, now: number): number {
    this.#changes += 1
    return Number(this.#endLeases.run({ now, owner }).changes)
  }

  counts(now: number, scopes: string[] | undefined, kinds: string[] | undefined): WorkCounts {
    const { due, leased, later } = this.#counts.get({
      now,
      scopes: scopes === undefined ? null : JSON.stringify(scopes),
      kinds: kinds === undefined ? null : JSON.stringify(kinds),
    }) as unknown as WorkCounts
    return { due, leased, later }
  }
}

/** Finds the first of the ready work. Its index is ordered by scope, kind, priority: each lane's head is found without walking the lane. */
class ReadyWork {
  readonly #firstScope: StatementSync
  readonly #nextScope: StatementSync
  readonly #firstKind: StatementSync
  readonly #nextKind: StatementSync
  readonly #lane: StatementSync

  constructor(db: DatabaseSync) {
    this.#firstScope = db.prepare('SELECT scope AS name FROM work WHERE waiting = 0 ORDER BY scope LIMIT 1')
    this.#nextScope = db.prepare('SELECT scope AS name FROM work WHERE waiting = 0 AND scope > ? ORDER BY scope LIMIT 1')
    this.#firstKind = db.prepare('SELECT kind AS name FROM work WHERE waiting = 0 AND scope = ? ORDER BY kind LIMIT 1')
    this.#nextKind = db.prepare('SELECT kind AS name FROM work WHERE waiting = 0 AND scope = ? AND kind > ? ORDER BY kind LIMIT 1')
    this.#lane = db.prepare(
      'SELECT seq, key, kind, priority, payload, claims, postponed FROM work WHERE waiting = 0 AND scope = ? AND kind = ? ORDER BY priority DESC, seq LIMIT ?',
    )
  }

  first({ scopes, kinds, limit }: ClaimRequest): WorkRow[] {
    const rows: WorkRow[] = []
    for (const scope of scopes === undefined ? this.#scopes() : new Set(scopes)) {
      for (const kind of kinds === undefined ? this.#kinds(scope) : new Set(kinds)) {
        rows.push(...(this.#lane.all(scope, kind, limit) as unknown as WorkRow[]))
      }
    }
    return rows.sort((a, b) => b.priority - a.priority || a.seq - b.seq).slice(0, limit)
  }

  *#scopes(): Generator<string> {
    for (let found = this.#firstScope.get(); found !== undefined; found = this.#nextScope.get(found.name as string))
      yield found.name as string
  }

  *#kinds(scope: string): Generator<string> {
    for (let found = this.#firstKind.get(scope); found !== undefined; found = this.#nextKind.get(scope, found.name as string))
      yield found.name as string
  }
}
