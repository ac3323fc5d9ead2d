import { describe, expect, it } from 'vitest'
import type { Lease, NewWork } from '../../../contract/work.ts'
import type { ClaimRequest, Journal } from '../../../ports/journal.ts'
import type { JournalAdapter } from '../adapters.ts'
import { freshJournal } from '../fresh.ts'
import { enqueued, happened, meta, stoppedClock, workOf } from '../samples.ts'

async function claimed(journal: Journal, request: Partial<ClaimRequest> = {}): Promise<Lease[]> {
  return journal.claim({ owner: 'one', limit: 100, leaseMs: 1000, ...request })
}

async function claimedOne(journal: Journal, request: Partial<ClaimRequest> = {}): Promise<Lease> {
  const [lease, ...rest] = await claimed(journal, request)
  if (lease === undefined || rest.length > 0) throw new Error(`one lease was expected, not ${rest.length + (lease ? 1 : 0)}`)
  return lease
}

async function keysOf(leases: Promise<Lease[]>): Promise<string[]> {
  return (await leases).map(({ key }) => key)
}

export function work(adapter: JournalAdapter): void {
  describe('work', () => {
    taking(adapter)
    holding(adapter)
    settling(adapter)
  })
}

function taking(adapter: JournalAdapter): void {
  it('is taken by priority, then in the order enqueued, with what it carries', async () => {
    const journal = await freshJournal(adapter)
    await enqueued(
      journal,
      workOf('low', { priority: 0.5 }),
      workOf('first'),
      workOf('second', { kind: 'rake' }),
      workOf('high', { priority: 2, payload: { deep: [1, null] } }),
    )
    expect(await keysOf(claimed(journal, { limit: 0 }))).toEqual([])
    const [high] = await claimed(journal, { limit: 1 })
    expect(high).toMatchObject({ key: 'high', kind: 'dig', payload: { deep: [1, null] }, owner: 'one', claims: 1 })
    expect(await keysOf(claimed(journal, { limit: 2 }))).toEqual(['first', 'second'])
    expect(await keysOf(claimed(journal))).toEqual(['low'])
    expect(await keysOf(claimed(journal))).toEqual([])
  })

  it('is taken by kind and by scope', async () => {
    const journal = await freshJournal(adapter)
    for (const scope of ['field', 'garden'])
      for (const kind of ['dig', 'rake', 'sow']) await enqueued(journal, workOf(`${scope}/${kind}`, { scope, kind }))
    expect(await keysOf(claimed(journal, { kinds: [] }))).toEqual([])
    expect(await keysOf(claimed(journal, { scopes: ['moon'] }))).toEqual([])
    expect(await keysOf(claimed(journal, { kinds: ['dig'], scopes: ['garden'] }))).toEqual(['garden/dig'])
    expect(await keysOf(claimed(journal, { kinds: ['rake', 'rake'] }))).toEqual(['field/rake', 'garden/rake'])
    expect(await journal.workCount(['field'])).toEqual({ due: 2, leased: 1, later: 0 })
    expect(await journal.workCount(undefined, ['rake'])).toEqual({ due: 0, leased: 2, later: 0 })
    expect(await journal.workCount(['field'], ['dig', 'sow'])).toEqual({ due: 2, leased: 0, later: 0 })
    expect(await journal.workCount(undefined, [])).toEqual({ due: 0, leased: 0, later: 0 })
    expect(await keysOf(claimed(journal, { scopes: ['field', 'field'] }))).toEqual(['field/dig', 'field/sow'])
    expect(await keysOf(claimed(journal))).toEqual(['garden/sow'])
  })

  it('is not due before its time, and counted so', async () => {
    const clock = stoppedClock()
    const journal = await freshJournal(adapter, { clock })
    await enqueued(journal, workOf('now'), workOf('soon', { delayMs: 10, priority: 9 }))
    expect(await journal.workCount()).toEqual({ due: 1, leased: 0, later: 1 })
    expect(await keysOf(claimed(journal))).toEqual(['now'])
    clock.pass(10)
    expect(await journal.workCount()).toEqual({ due: 1, leased: 1, later: 0 })
    expect(await keysOf(claimed(journal))).toEqual(['soon'])
  })

  it('is enqueued once by its key, and only with an append that succeeds', async () => {
    const journal = await freshJournal(adapter)
    await enqueued(journal, workOf('k', { payload: 'first' }))
    await enqueued(journal, workOf('k', { payload: 'second', priority: 5 }))
    const refused = { streams: [{ stream: 's', expected: 7, events: [happened(1)] }], enqueue: [workOf('never')], meta }
    expect(await journal.append(refused)).toMatchObject({ ok: false })
    const leases = await claimed(journal)
    expect(leases.map(({ key, payload }) => [key, payload])).toEqual([['k', 'first']])
    await enqueued(journal, workOf('k'))
    expect(await keysOf(claimed(journal))).toEqual([])
  })

  it("that no store could keep is its caller's fault alone: what others append at the same moment is written", async () => {
    const journal = await freshJournal(adapter)
    const broken: Partial<NewWork>[] = [
      { priority: Number.NaN },
      { priority: Number.POSITIVE_INFINITY },
      { delayMs: Number.NaN },
      { kind: '' },
      { key: '' },
      { scope: 'a\u0000b' },
    ]
    const append = (n: number, more: Partial<NewWork>) =>
      journal.append({ streams: [{ stream: `s/${n}`, expected: 0, events: [happened(n)] }], enqueue: [workOf(`k/${n}`, more)], meta })
    const results = await Promise.allSettled([append(0, {}), ...broken.map((more, n) => append(n + 1, more)), append(100, {})])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', ...broken.map(() => 'rejected'), 'fulfilled'])
    expect(await keysOf(claimed(journal, { limit: 1 }))).toEqual(['k/0'])
    const [lease] = await claimed(journal)
    if (!lease) throw new Error('no work was queued')
    await expect(claimed(journal, { leaseMs: Number.NaN })).rejects.toThrow(RangeError)
    await expect(journal.beat(lease, Number.NaN)).rejects.toThrow(RangeError)
    await expect(journal.release(lease, Number.NaN)).rejects.toThrow(RangeError)
    expect(await journal.beat(lease, 100.5)).toBe(true)
    expect(await journal.release(lease, 0.25)).toBe(true)
    expect(await journal.position()).toBe(2)
  })

  it('goes to one taker only, however many ask at once', async () => {
    const journal = await freshJournal(adapter)
    await enqueued(journal, ...Array.from({ length: 20 }, (_, n) => workOf(`k/${n}`)))
    const taken = (await Promise.all(Array.from({ length: 10 }, (_, n) => claimed(journal, { owner: `o/${n}`, limit: 3 })))).flat()
    expect(new Set(taken.map(({ key }) => key)).size).toBe(20)
    expect(taken).toHaveLength(20)
    expect(new Set(taken.map(({ fence }) => fence)).size).toBe(20)
  })
}

function holding(adapter: JournalAdapter): void {
  it('is free again when its lease ends, for a holder with a higher fence', async () => {
    const clock = stoppedClock()
    const journal = await freshJournal(adapter, { clock })
    await enqueued(journal, workOf('k'))
    const first = await claimedOne(journal, { leaseMs: 100 })
    expect(first.until).toBe(clock.now() + 100)
    clock.pass(99)
    expect(await claimed(journal)).toEqual([])
    clock.pass(1)
    const second = await claimedOne(journal, { owner: 'two' })
    expect(second).toMatchObject({ key: 'k', owner: 'two', claims: 2 })
    expect(second.fence).toBeGreaterThan(first.fence)
    expect([await journal.beat(first, 100), await journal.release(first, 0), await journal.complete(first)]).toEqual([false, false, false])
    expect(await journal.beat(second, 100)).toBe(true)
  })

  it('stays with a holder whose heart beats', async () => {
    const clock = stoppedClock()
    const journal = await freshJournal(adapter, { clock })
    await enqueued(journal, workOf('k'))
    const lease = await claimedOne(journal, { leaseMs: 100 })
    for (let beat = 0; beat < 5; beat += 1) {
      clock.pass(60)
      expect(await journal.beat(lease, 100)).toBe(true)
      expect(await claimed(journal)).toEqual([])
    }
    clock.pass(100)
    expect(await journal.workCount()).toEqual({ due: 1, leased: 0, later: 0 })
    expect(await journal.beat(lease, 100)).toBe(true)
    expect(await claimed(journal)).toEqual([])
  })

  it('can be given back for later', async () => {
    const clock = stoppedClock()
    const journal = await freshJournal(adapter, { clock })
    await enqueued(journal, workOf('k'), workOf('next'))
    const lease = await claimedOne(journal, { limit: 1 })
    expect(await journal.release(lease, 50)).toBe(true)
    expect(await journal.beat(lease, 100)).toBe(false)
    expect(await journal.workCount()).toEqual({ due: 1, leased: 0, later: 1 })
    clock.pass(50)
    const again = await claimed(journal)
    expect(again.map(({ key, postponed }) => [key, postponed])).toEqual([
      ['k', 1],
      ['next', 0],
    ])
  })

  it('is taken from owners that are known to be dead', async () => {
    const journal = await freshJournal(adapter)
    await enqueued(journal, workOf('a'), workOf('b'))
    const dead = await claimedOne(journal, { owner: 'dead', limit: 1 })
    await claimedOne(journal, { owner: 'alive', limit: 1 })
    expect(await journal.reclaim((owner) => owner === 'dead')).toBe(1)
    expect(await journal.reclaim((owner) => owner === 'dead')).toBe(0)
    expect(await journal.workCount()).toEqual({ due: 1, leased: 1, later: 0 })
    expect(await claimedOne(journal, { owner: 'heir' })).toMatchObject({ key: dead.key, claims: 2 })
    expect(await journal.beat(dead, 100)).toBe(false)
  })
}

function settling(adapter: JournalAdapter): void {
  const outcome = (settles: Lease, expected = 0) => ({
    streams: [{ stream: 's', expected, events: [happened(settles.fence)] }],
    settles,
    meta,
  })

  it('is settled by the append of its outcome, in one step', async () => {
    const journal = await freshJournal(adapter)
    await enqueued(journal, workOf('k'))
    const lease = await claimedOne(journal)
    expect(await journal.append({ ...outcome(lease), enqueue: [workOf('next')] })).toMatchObject({ ok: true })
    expect(await journal.append(outcome(lease, 1))).toEqual({ ok: false, code: 'lease_lost', key: 'k' })
    expect(await keysOf(claimed(journal))).toEqual(['next'])
    expect(await journal.head('s')).toBe(1)
  })

  it('is not settled by an append that is refused', async () => {
    const journal = await freshJournal(adapter)
    await enqueued(journal, workOf('k'))
    const lease = await claimedOne(journal)
    expect(await journal.append(outcome(lease, 5))).toMatchObject({ code: 'version_conflict' })
    expect(await journal.beat(lease, 1000)).toBe(true)
    expect(await journal.complete(lease)).toBe(true)
    expect(await journal.workCount()).toEqual({ due: 0, leased: 0, later: 0 })
  })

  it('may be settled late as long as nobody else took it; after that nothing is written', async () => {
    const clock = stoppedClock()
    const journal = await freshJournal(adapter, { clock })
    await enqueued(journal, workOf('late'), workOf('taken'))
    const [late, taken] = await claimed(journal, { leaseMs: 10 })
    if (late === undefined || taken === undefined) throw new Error('two leases were expected')
    clock.pass(1000)
    expect(await journal.append(outcome(late))).toMatchObject({ ok: true })
    expect(await keysOf(claimed(journal, { owner: 'two' }))).toEqual(['taken'])
    expect(await journal.append({ ...outcome(taken, 1), enqueue: [workOf('ghost')] })).toEqual({
      ok: false,
      code: 'lease_lost',
      key: 'taken',
    })
    expect(await journal.head('s')).toBe(1)
    expect(await journal.workCount()).toEqual({ due: 0, leased: 1, later: 0 })
  })

  it('goes on through an append that only rests on it; once somebody else has it, nothing is written', async () => {
    const clock = stoppedClock()
    const journal = await freshJournal(adapter, { clock })
    await enqueued(journal, workOf('k'))
    const lease = await claimedOne(journal, { leaseMs: 10 })
    const step = (expected: number) => ({ streams: [{ stream: 's', expected, events: [happened(expected)] }], holds: lease, meta })
    expect(await journal.append(step(0))).toMatchObject({ ok: true })
    expect(await journal.workCount()).toEqual({ due: 0, leased: 1, later: 0 })
    clock.pass(1000)
    expect(await keysOf(claimed(journal, { owner: 'two' }))).toEqual(['k'])
    expect(await journal.append(step(1))).toEqual({ ok: false, code: 'lease_lost', key: 'k' })
    expect(await journal.head('s')).toBe(1)
  })

  it('fences a stale holder even when the same key is enqueued again', async () => {
    const journal = await freshJournal(adapter)
    await enqueued(journal, workOf('k'))
    const stale = await claimedOne(journal)
    expect(await journal.append({ ...outcome(stale), enqueue: [workOf('k')] })).toMatchObject({ ok: true })
    const fresh = await claimedOne(journal)
    expect(fresh).toMatchObject({ key: 'k', claims: 1 })
    expect(await journal.append(outcome(stale, 1))).toMatchObject({ code: 'lease_lost' })
    expect(await journal.append(outcome(fresh, 1))).toMatchObject({ ok: true })
  })
}
