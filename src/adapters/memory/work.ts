import { canonicalJson } from '../../contract/canonical.ts'
import type { Lease, NewWork } from '../../contract/work.ts'
import type { ClaimRequest, QueuedWork } from '../../ports/journal.ts'
import { Heap } from './heap.ts'

type Holder = Pick<Lease, 'key' | 'owner' | 'fence'>

interface Item {
  seq: number
  key: string
  kind: string
  scope: string
  priority: number
  payload: string
  owner: string | null
  fence: number
  claims: number
  postponed: number
  /** The end of its lease, or the time before which it is not due. */
  readyAt: number
  /** Counts its moves between the heaps, so that an outdated entry is told from the current one. */
  moves: number
}
interface Entry {
  item: Item
  moves: number
  readyAt: number
}

/** The leased queue in memory, by the same rules as the stored ones. */
export class WorkList {
  readonly #items = new Map<string, Item>()
  /** By scope, then by kind. */
  readonly #ready = new Map<string, Map<string, Heap<Entry>>>()
  readonly #waiting = new Heap<Entry>((a, b) => a.readyAt < b.readyAt)
  #seq = 0
  #fence = 0

  enqueue(work: Omit<NewWork, 'payload'> & { payload: string }, now: number): void {
    if (this.#items.has(work.key)) return
    this.#seq += 1
    const { key, kind, scope, priority, payload, delayMs = 0 } = work
    const untouched = { owner: null, fence: 0, claims: 0, postponed: 0, readyAt: 0, moves: 0 }
    const item: Item = { seq: this.#seq, key, kind, scope, priority, payload, ...untouched }
    this.#items.set(key, item)
    this.#move(item, now + Math.ceil(delayMs), now)
  }

  all(): QueuedWork[] {
    const items = [...this.#items.values()]
    return items.map(({ key, kind, scope, priority, payload }) => ({ key, kind, scope, priority, payload: JSON.parse(payload) }))
  }

  holds(holder: Holder): boolean {
    const item = this.#items.get(holder.key)
    return item !== undefined && item.owner === holder.owner && item.fence === holder.fence
  }

  remove(key: string): void {
    const item = this.#items.get(key)
    if (item !== undefined) item.moves += 1
    this.#items.delete(key)
  }

  renew(key: string, until: number, now: number): void {
    const item = this.#items.get(key)
    if (item !== undefined) this.#move(item, until, now)
  }

  giveBack(key: string, readyAt: number, now: number): void {
    const item = this.#items.get(key)
    if (item === undefined) return
    item.owner = null
    if (readyAt > now) item.postponed += 1
    this.#move(item, readyAt, now)
  }

  claim(request: ClaimRequest, now: number): Lease[] {
    this.#ripen(now)
    const lanes = this.#lanes(request)
    const leases: Lease[] = []
    while (leases.length < request.limit) {
      const item = takeFirst(lanes)
      if (item === undefined) break
      leases.push(this.#lease(item, request.owner, now + request.leaseMs, now))
    }
    return leases
  }

  endLeases(isDead: (owner: string) => boolean, now: number): number {
    const leased = [...this.#items.values()].filter((item) => item.readyAt > now && item.owner !== null && isDead(item.owner))
    for (const item of leased) this.#move(item, now, now)
    return leased.length
  }

  counts(now: number, scopes?: string[], kinds?: string[]): { due: number; leased: number; later: number } {
    const counts = { due: 0, leased: 0, later: 0 }
    for (const item of this.#items.values()) {
      if (scopes !== undefined && !scopes.includes(item.scope)) continue
      if (kinds !== undefined && !kinds.includes(item.kind)) continue
      if (item.readyAt <= now) counts.due += 1
      else if (item.owner !== null) counts.leased += 1
      else counts.later += 1
    }
    return counts
  }

  #lease(item: Item, owner: string, until: number, now: number): Lease {
    this.#fence += 1
    item.owner = owner
    item.fence = this.#fence
    item.claims += 1
    this.#move(item, until, now)
    const { key, kind, fence, claims, postponed } = item
    return { key, kind, payload: JSON.parse(item.payload), owner, fence, claims, postponed, until }
  }

  #move(item: Item, readyAt: number, now: number): void {
    item.readyAt = readyAt
    item.moves += 1
    const entry = { item, moves: item.moves, readyAt }
    if (readyAt > now) this.#waiting.push(entry)
    else this.#lane(item).push(entry)
  }

  #lane({ scope, kind }: Item): Heap<Entry> {
    const lanes = this.#ready.get(scope) ?? new Map<string, Heap<Entry>>()
    this.#ready.set(scope, lanes)
    const lane = lanes.get(kind) ?? new Heap<Entry>((a, b) => comesBefore(a.item, b.item))
    lanes.set(kind, lane)
    return lane
  }

  #lanes({ scopes, kinds }: ClaimRequest): Heap<Entry>[] {
    const found: Heap<Entry>[] = []
    for (const scope of scopes === undefined ? this.#ready.keys() : new Set(scopes)) {
      for (const [kind, lane] of this.#ready.get(scope) ?? []) if (kinds === undefined || kinds.includes(kind)) found.push(lane)
    }
    return found
  }

  #ripen(now: number): void {
    for (let entry = this.#waiting.first; entry !== undefined && entry.readyAt <= now; entry = this.#waiting.first) {
      this.#waiting.pop()
      if (entry.moves === entry.item.moves) this.#lane(entry.item).push(entry)
    }
  }
}

function takeFirst(lanes: Heap<Entry>[]): Item | undefined {
  let best: Heap<Entry> | undefined
  for (const lane of lanes) {
    while (lane.first !== undefined && lane.first.moves !== lane.first.item.moves) lane.pop()
    if (lane.first !== undefined && (best?.first === undefined || comesBefore(lane.first.item, best.first.item))) best = lane
  }
  return best?.pop()?.item
}

function comesBefore(a: Item, b: Item): boolean {
  return a.priority !== b.priority ? a.priority > b.priority : a.seq < b.seq
}

export function payloadText(work: NewWork): Omit<NewWork, 'payload'> & { payload: string } {
  return { ...work, payload: canonicalJson(work.payload ?? null) }
}
