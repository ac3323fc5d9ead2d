import type { Lease } from '../../../contract/work.ts'
import type { AppendRequest } from '../../../ports/journal.ts'

interface Item {
  key: string
  kind: string
  scope: string
  priority: number
  readyAt: number
  owner: string | null
  fence: number
  claims: number
}

/** What a journal does, said as simply as possible: arrays, linear search, no storage. */
export class JournalModel {
  readonly log: [stream: string, version: number][] = []
  #work: Item[] = []

  head(stream: string): number {
    return this.log.filter(([name]) => name === stream).length
  }

  get streams(): number {
    return new Set(this.log.map(([stream]) => stream)).size
  }

  append(request: AppendRequest, now: number): unknown {
    if (request.settles !== undefined && this.#held(request.settles) === undefined)
      return { ok: false, code: 'lease_lost', key: request.settles.key }
    const added: [string, number][] = []
    for (const { stream, expected, events } of request.streams) {
      const actual = this.head(stream) + added.filter(([name]) => name === stream).length
      if (actual !== expected) return { ok: false, code: 'version_conflict', stream, expected, actual }
      for (let n = 1; n <= events.length; n += 1) added.push([stream, actual + n])
    }
    this.log.push(...added)
    if (request.settles !== undefined) this.complete(request.settles)
    for (const { key, kind, scope, priority, delayMs = 0 } of request.enqueue ?? []) {
      if (!this.#work.some((item) => item.key === key))
        this.#work.push({ key, kind, scope, priority, readyAt: now + delayMs, owner: null, fence: 0, claims: 0 })
    }
    return { ok: true, events: added }
  }

  /** Takes what should be taken; fences are the journal's to choose, so they are learnt from what it gave. */
  claim(
    wanted: { limit: number; kinds: string[] | undefined; scopes: string[] | undefined },
    now: number,
    until: number,
    given: Lease[],
  ): { key: string; claims: number }[] {
    const due = this.#work.filter(
      (item) => item.readyAt <= now && (wanted.kinds?.includes(item.kind) ?? true) && (wanted.scopes?.includes(item.scope) ?? true),
    )
    const taken = due.sort((a, b) => b.priority - a.priority).slice(0, wanted.limit)
    for (const item of taken) {
      const lease = given.find(({ key }) => key === item.key)
      Object.assign(item, { owner: lease?.owner ?? null, fence: lease?.fence ?? 0, claims: item.claims + 1, readyAt: until })
    }
    return taken.map(({ key, claims }) => ({ key, claims }))
  }

  beat(lease: Lease, until: number): boolean {
    const item = this.#held(lease)
    if (item !== undefined) item.readyAt = until
    return item !== undefined
  }

  release(lease: Lease, readyAt: number): boolean {
    const item = this.#held(lease)
    if (item !== undefined) Object.assign(item, { owner: null, readyAt })
    return item !== undefined
  }

  complete(lease: Pick<Lease, 'key' | 'owner' | 'fence'>): boolean {
    const item = this.#held(lease)
    this.#work = this.#work.filter((other) => other !== item)
    return item !== undefined
  }

  reclaim(owner: string, now: number): number {
    const leased = this.#work.filter((item) => item.owner === owner && item.readyAt > now)
    for (const item of leased) item.readyAt = now
    return leased.length
  }

  counts(now: number): { due: number; leased: number; later: number } {
    const ahead = this.#work.filter((item) => item.readyAt > now)
    const leased = ahead.filter((item) => item.owner !== null).length
    return { due: this.#work.length - ahead.length, leased, later: ahead.length - leased }
  }

  #held(lease: Pick<Lease, 'key' | 'owner' | 'fence'>): Item | undefined {
    return this.#work.find((item) => item.key === lease.key && item.owner === lease.owner && item.fence === lease.fence)
  }
}
