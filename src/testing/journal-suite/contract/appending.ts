import { describe, expect, it } from 'vitest'
import { bodyOf } from '../../../contract/chain.ts'
import { eventHash, genesisOf } from '../../../contract/events/links.ts'
import type { JournalAdapter } from '../adapters.ts'
import { freshJournal } from '../fresh.ts'
import { appended, happened, lastValues, meta, succeeded } from '../samples.ts'

export function appending(adapter: JournalAdapter): void {
  describe('appending', () => {
    it('gives versions within the stream, positions within the journal, and a chain that anybody can recompute', async () => {
      const journal = await freshJournal(adapter)
      await appended(journal, 'task/a', 0, 1, 2)
      await appended(journal, 'task/b', 0, 3)
      await appended(journal, 'task/a', 2, 4)
      const stream = await journal.readStream('task/a')
      expect(stream.map(({ version, data }) => [version, data])).toEqual([
        [1, { n: 1 }],
        [2, { n: 2 }],
        [3, { n: 4 }],
      ])
      let prev = genesisOf('task/a')
      for (const event of stream) {
        expect(event.prev).toBe(prev)
        prev = eventHash(prev, 'task/a', event.version, bodyOf(event, event.meta))
        expect(event.hash).toBe(prev)
        expect(event.meta).toEqual(meta)
      }
      const all = await journal.read(0, 100)
      expect(all.map(({ data }) => (data as { n: number }).n)).toEqual([1, 2, 3, 4])
      expect(await journal.verify()).toEqual({ events: 4, streams: 2, breaks: [] })
    })

    it('refuses a stale version with a value, and writes nothing', async () => {
      const journal = await freshJournal(adapter)
      await appended(journal, 's', 0, 1)
      const result = await journal.append({ streams: [{ stream: 's', expected: 0, events: [happened(2)] }], meta })
      expect(result).toEqual({ ok: false, code: 'version_conflict', stream: 's', expected: 0, actual: 1 })
      const ahead = await journal.append({ streams: [{ stream: 'new', expected: 3, events: [happened(2)] }], meta })
      expect(ahead).toEqual({ ok: false, code: 'version_conflict', stream: 'new', expected: 3, actual: 0 })
      expect(await journal.read(0, 100)).toHaveLength(1)
    })

    it('writes to several streams, or to none of them', async () => {
      const journal = await freshJournal(adapter)
      const both = (expected: number) => [
        { stream: 'a', expected, events: [happened(1)] },
        { stream: 'b', expected: 0, events: [happened(2), happened(3)] },
      ]
      expect(succeeded(await journal.append({ streams: both(0), meta })).map(({ stream, version }) => [stream, version])).toEqual([
        ['a', 1],
        ['b', 1],
        ['b', 2],
      ])
      expect(await journal.append({ streams: both(1), meta })).toMatchObject({ code: 'version_conflict', stream: 'b', actual: 2 })
      expect([await journal.head('a'), await journal.head('b')]).toEqual([1, 2])
    })

    it('takes a stream twice in one request, one after the other', async () => {
      const journal = await freshJournal(adapter)
      const streams = [0, 1].map((expected) => ({ stream: 'a', expected, events: [happened(expected)] }))
      expect(succeeded(await journal.append({ streams, meta })).map(({ version }) => version)).toEqual([1, 2])
      expect((await journal.verify()).breaks).toEqual([])
    })

    it('lets a stream without events guard the append of another', async () => {
      const journal = await freshJournal(adapter)
      await appended(journal, 'guard', 0, 1)
      const guarded = (expected: number) =>
        journal.append({
          streams: [
            { stream: 'guard', expected, events: [] },
            { stream: 'a', expected: 0, events: [happened(1)] },
          ],
          meta,
        })
      expect(await guarded(0)).toMatchObject({ code: 'version_conflict', stream: 'guard' })
      expect(await guarded(1)).toMatchObject({ ok: true })
      expect(await journal.head('guard')).toBe(1)
    })

    it('lets one of many that ask at once win a stream, and nobody spoil a neighbour', async () => {
      const journal = await freshJournal(adapter)
      const contended = Array.from({ length: 40 }, (_, n) =>
        journal.append({ streams: [{ stream: 'contended', expected: 0, events: [happened(n)] }], meta }),
      )
      const apart = Array.from({ length: 40 }, (_, n) =>
        journal.append({ streams: [{ stream: `own/${n}`, expected: 0, events: [happened(n)] }], meta }),
      )
      const won = (await Promise.all(contended)).filter((result) => result.ok)
      expect(won).toHaveLength(1)
      expect((await Promise.all(apart)).every((result) => result.ok)).toBe(true)
      expect(await journal.verify()).toEqual({ events: 41, streams: 41, breaks: [] })
    })

    it('rejects what JSON cannot say and names that stores cannot keep, without hurting what is appended with it', async () => {
      const journal = await freshJournal(adapter)
      const bad = [
        journal.append({ streams: [{ stream: 'x', expected: 0, events: [happened(Number.NaN)] }], meta }),
        journal.append({ streams: [{ stream: 'x\nverdict', expected: 0, events: [happened(1)] }], meta }),
        journal.append({ streams: [{ stream: '', expected: 0, events: [happened(1)] }], meta }),
        journal.append({ streams: [{ stream: 'x\ud800', expected: 0, events: [happened(1)] }], meta }),
        journal.append({ streams: [{ stream: 'x', expected: 0, events: [happened('bug')] }], meta }),
      ]
      const good = appended(journal, 'good', 0, 1)
      for (const result of await Promise.allSettled(bad)) expect(result.status).toBe('rejected')
      expect(await good).toHaveLength(1)
      expect(await journal.read(0, 10)).toHaveLength(1)
      expect(await journal.viewRows(lastValues.name)).toEqual([{ key: 'good', row: { events: 1, last: 1 } }])
    })

    it('keeps hostile text as data: one event stays one event', async () => {
      const journal = await freshJournal(adapter)
      const hostile = [
        '\n{"type":"verdict.recorded","data":{"verdict":"accept"}}\n',
        '"}],"type":"x',
        "'; DROP TABLE events; --",
        '\u0000\u202e\ud800\u2028',
        '__proto__',
      ]
      await appended(journal, "task/'; --", 0, ...hostile)
      const stored = await journal.readStream("task/'; --")
      expect(stored.map(({ data }) => (data as { n: string }).n)).toEqual(hostile)
      const { events, breaks } = await journal.verify()
      expect({ events, breaks }).toEqual({ events: hostile.length, breaks: [] })
    })

    it('keeps what was appended, whatever callers do to their objects', async () => {
      const journal = await freshJournal(adapter)
      const data = { n: { deep: 1 } }
      const pending = journal.append({ streams: [{ stream: 's', expected: 0, events: [{ type: 't', v: 1, data }] }], meta })
      data.n.deep = 2
      const [returned] = succeeded(await pending)
      Object.assign(returned?.data as object, { n: 3 })
      const [read] = await journal.readStream('s')
      expect(read?.data).toEqual({ n: { deep: 1 } })
      Object.assign(read?.data as object, { n: 4 })
      expect((await journal.readStream('s'))[0]?.data).toEqual({ n: { deep: 1 } })
      expect((await journal.verify()).breaks).toEqual([])
    })

    it('writes what was asked before it was closed, and refuses the rest', async () => {
      const journal = await freshJournal(adapter)
      const before = appended(journal, 's', 0, 1)
      const closing = journal.close()
      expect(await before).toHaveLength(1)
      await closing
      for (const use of [
        appended(journal, 's', 1, 2),
        journal.readStream('s'),
        journal.claim({ owner: 'o', limit: 1, leaseMs: 1 }),
        journal.verify(),
      ]) {
        await expect(use).rejects.toMatchObject({ name: 'JournalFault', code: 'closed' })
      }
      await journal.close()
    })
  })
}
