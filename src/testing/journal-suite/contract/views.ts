import { describe, expect, it } from 'vitest'
import type { View } from '../../../ports/journal.ts'
import type { JournalAdapter } from '../adapters.ts'
import { freshJournal, openAt } from '../fresh.ts'
import { appended, happened, lastValues, meta, total } from '../samples.ts'

export function views(adapter: JournalAdapter): void {
  describe('views', () => {
    it('are up to date when the append is acknowledged', async () => {
      const journal = await freshJournal(adapter)
      const [, second] = await appended(journal, 'a', 0, 1, 2)
      expect(await journal.viewRow(lastValues.name, 'a')).toEqual({ events: 2, last: 2 })
      expect(await journal.viewRow(total.name, 'all')).toEqual({ events: 2, position: second?.position })
      expect(await journal.viewRow(lastValues.name, 'b')).toBeUndefined()
    })

    it('lose a row whose fold says so, and get it back', async () => {
      const journal = await freshJournal(adapter)
      await appended(journal, 'a', 0, 1, 'gone')
      expect(await journal.viewRow(lastValues.name, 'a')).toBeUndefined()
      await appended(journal, 'a', 2, 3)
      expect(await journal.viewRow(lastValues.name, 'a')).toEqual({ events: 1, last: 3 })
    })

    it('stay as they are when the append is refused', async () => {
      const journal = await freshJournal(adapter)
      await appended(journal, 'a', 0, 1)
      const streams = [
        { stream: 'b', expected: 0, events: [happened(2)] },
        { stream: 'a', expected: 0, events: [happened(2)] },
      ]
      expect(await journal.append({ streams, meta })).toMatchObject({ ok: false })
      expect(await journal.viewRows(lastValues.name)).toEqual([{ key: 'a', row: { events: 1, last: 1 } }])
    })

    it('fold many concurrent appends into one row without losing any', async () => {
      const journal = await freshJournal(adapter)
      await Promise.all(Array.from({ length: 100 }, (_, n) => appended(journal, `s/${n}`, 0, n)))
      expect(await journal.viewRow(total.name, 'all')).toMatchObject({ events: 100 })
    })

    it('list rows by key in code-point order, by prefix, after a key, up to a limit', async () => {
      const journal = await freshJournal(adapter)
      const keys = ['a', 'a/1', 'a/10', 'a/2', 'b', 'é', '\uffee', '😀']
      for (const key of [...keys].reverse()) await appended(journal, key, 0, 1)
      const list = async (range: Parameters<typeof journal.viewRows>[1]) =>
        (await journal.viewRows(lastValues.name, range)).map(({ key }) => key)
      expect(await list(undefined)).toEqual(keys)
      expect(await list({ prefix: 'a/' })).toEqual(['a/1', 'a/10', 'a/2'])
      expect(await list({ prefix: 'a/', afterKey: 'a/1', limit: 1 })).toEqual(['a/10'])
      expect(await list({ prefix: 'b', afterKey: 'a/1' })).toEqual(['b'])
      expect(await list({ prefix: 'a/', afterKey: 'b' })).toEqual([])
      expect(await list({ afterKey: 'b', limit: 2 })).toEqual(['é', '\uffee'])
      expect(await list({ limit: 0 })).toEqual([])
      expect(await journal.viewRows('unknown')).toEqual([])
    })

    it('are the same when folded anew', async () => {
      const journal = await freshJournal(adapter)
      for (let n = 0; n < 20; n += 1)
        await appended(journal, `s/${n % 3}`, Math.floor(n / 3), n % 7 === 6 ? 'gone' : { n, left: undefined })
      const before = await journal.viewRows(lastValues.name)
      expect(await journal.rebuildViews()).toEqual([])
      expect(await journal.viewRows(lastValues.name)).toEqual(before)
    })

    it('name the rows that differ from the fold, and are repaired', async () => {
      let drift = true
      const drifting: View<{ events: number }> = {
        name: 'drifting',
        keys: (event) => [event.stream],
        fold: (row, event) =>
          drift && event.stream === 'bad'
            ? { events: 99 }
            : drift && event.stream === 'lost'
              ? undefined
              : { events: (row?.events ?? 0) + 1 },
      }
      const journal = await freshJournal(adapter, { views: [drifting] })
      for (const stream of ['bad', 'good', 'lost']) await appended(journal, stream, 0, 1)
      drift = false
      expect(await journal.rebuildViews()).toEqual([
        { view: 'drifting', key: 'bad' },
        { view: 'drifting', key: 'lost' },
      ])
      expect(await journal.viewRows('drifting')).toEqual(['bad', 'good', 'lost'].map((key) => ({ key, row: { events: 1 } })))
      expect(await journal.rebuildViews()).toEqual([])
    })

    if (adapter.shared) catchingUp(adapter)
  })
}

function catchingUp(adapter: JournalAdapter): void {
  it('are folded up to date for a reader that brings a new one, and after writers that did not know it', async () => {
    const old = await freshJournal(adapter, { views: [lastValues] })
    const [first] = await appended(old, 'a', 0, 1)
    const renewed = await openAt(adapter, old.place)
    expect(await renewed.viewRow(total.name, 'all')).toEqual({ events: 1, position: first?.position })
    await appended(old, 'a', 1, 2)
    const [third] = await appended(renewed, 'a', 2, 3)
    expect(await renewed.viewRow(total.name, 'all')).toEqual({ events: 3, position: third?.position })
    expect(await renewed.viewRow(lastValues.name, 'a')).toEqual({ events: 3, last: 3 })
    expect(await renewed.rebuildViews()).toEqual([])
  })
  it('that cannot be folded refuse their own process, and leave others alone', async () => {
    const viewless = await freshJournal(adapter, { views: [] })
    const viewing = await openAt(adapter, viewless.place)
    await appended(viewless, 'a', 0, 'bug')
    await expect(appended(viewing, 'b', 0, 1)).rejects.toThrow('a bug in a fold')
    await expect(openAt(adapter, viewless.place)).rejects.toThrow('a bug in a fold')
    await expect(viewing.rebuildViews()).rejects.toThrow('a bug in a fold')
    await appended(viewless, 'a', 1, 2)
    expect(await viewing.readStream('a')).toHaveLength(2)
  })
}
