import { describe, expect, it } from 'vitest'
import type { JournalAdapter } from '../adapters.ts'
import { freshJournal } from '../fresh.ts'
import { appended, enqueued, meta, workOf } from '../samples.ts'

/** Longer than any test may take: a wait that ends was woken. */
const never = Number.MAX_SAFE_INTEGER

export function reading(adapter: JournalAdapter): void {
  describe('reading', () => {
    it('reads on from a position, up to a limit, in order', async () => {
      const journal = await freshJournal(adapter)
      for (let n = 0; n < 10; n += 1) await appended(journal, `s/${n % 3}`, Math.floor(n / 3), n)
      const seen: unknown[] = []
      let position = 0
      for (;;) {
        const page = await journal.read(position, 3)
        if (page.length === 0) break
        expect(page.length).toBeLessThanOrEqual(3)
        for (const event of page) {
          expect(event.position).toBeGreaterThan(position)
          position = event.position
          seen.push((event.data as { n: number }).n)
        }
      }
      expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    it('reads events of some types alone, and says how far it looked', async () => {
      const journal = await freshJournal(adapter)
      const quoted = { said: '"type":"b.done","v":1}', type: 'b.done', v: 1 }
      const types = ['a.done', 'b.done', 'a.done', 'b.done.twice', 'c.done', 'b.done']
      for (const [index, type] of types.entries()) {
        const streams = [{ stream: `s/${index}`, expected: 0, events: [{ type, v: 1, data: type === 'b.done' ? {} : quoted }] }]
        expect(await journal.append({ streams, meta })).toMatchObject({ ok: true })
      }
      const found = await journal.readTypes(['b.done', "it's"], 0, 4)
      expect(found).toEqual({ events: [(await journal.read(1, 1))[0]], position: 4 })
      const rest = await journal.readTypes(['b.done', 'c.done'], found.position, 100)
      expect([rest.events.map(({ position }) => position), rest.position]).toEqual([[5, 6], 6])
      expect(await journal.readTypes(['b.done'], 6, 100)).toEqual({ events: [], position: 6 })
      expect(await journal.readTypes([], 0, 2)).toEqual({ events: [], position: 2 })
    })

    it('reads a stream after a version, and an unknown stream as empty', async () => {
      const journal = await freshJournal(adapter)
      await appended(journal, 's', 0, 'a', 'b', 'c')
      expect((await journal.readStream('s', 1)).map(({ version }) => version)).toEqual([2, 3])
      expect(await journal.readStream('s', 3)).toEqual([])
      expect(await journal.readStream('unknown')).toEqual([])
      expect([await journal.head('s'), await journal.head('unknown')]).toEqual([3, 0])
    })

    it('knows the position of the latest event', async () => {
      const journal = await freshJournal(adapter)
      expect(await journal.position()).toBe(0)
      const [, second] = await appended(journal, 's', 0, 1, 2)
      expect(await journal.position()).toBe(second?.position)
      await enqueued(journal, workOf('k'))
      expect(await journal.position()).toBe(second?.position)
    })

    it('does not wait when there is something already', async () => {
      const journal = await freshJournal(adapter)
      await appended(journal, 's', 0, 1)
      await journal.waitForNews(0, never)
      expect(await journal.read(0, 10)).toHaveLength(1)
    })

    it('wakes everybody who waits when something is appended', async () => {
      const journal = await freshJournal(adapter)
      const waits = [journal.waitForNews(0, never), journal.waitForNews(0, never)]
      await appended(journal, 's', 0, 1)
      await Promise.all(waits)
      expect(await journal.head('s')).toBe(1)
    })

    it('wakes when there is work to take, even without an event', async () => {
      const journal = await freshJournal(adapter)
      const enqueuedWake = journal.waitForNews(0, never)
      await enqueued(journal, workOf('k'))
      await enqueuedWake
      const [lease] = await journal.claim({ owner: 'o', limit: 1, leaseMs: 600_000 })
      if (lease === undefined) throw new Error('nothing to claim')
      const releasedWake = journal.waitForNews(0, never)
      expect(await journal.release(lease, 0)).toBe(true)
      await releasedWake
      await journal.claim({ owner: 'o', limit: 1, leaseMs: 600_000 })
      const reclaimedWake = journal.waitForNews(0, never)
      expect(await journal.reclaim(() => true)).toBe(1)
      await reclaimedWake
    })

    it('gives up waiting after the time given, and when it is closed', async () => {
      const journal = await freshJournal(adapter)
      await journal.waitForNews(0, 5)
      const waiting = journal.waitForNews(0, never)
      await journal.close()
      await waiting
      await expect(journal.waitForNews(0, 5)).rejects.toMatchObject({ code: 'closed' })
    })
  })
}
