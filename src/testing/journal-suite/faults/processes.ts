import { describe, expect, it, onTestFinished } from 'vitest'
import type { JournalAdapter } from '../adapters.ts'
import { freshJournal, openAt } from '../fresh.ts'
import { appended, enqueued, happened, lastValues, meta, total, workOf } from '../samples.ts'
import { type Child, startChild } from './children.ts'

const timeout = 300_000

async function allReady(children: Child[]): Promise<void> {
  await Promise.all(children.map((child) => child.hears(({ ready }) => ready === true)))
}

export function severalProcesses(adapter: JournalAdapter): void {
  describe('several processes', () => {
    racing(adapter)
    killing(adapter)
    pausing(adapter)
  })
}

function racing(adapter: JournalAdapter): void {
  it('write at once: nothing is lost, nothing doubled, every chain holds', { timeout }, async () => {
    const [writers, count] = [4, 60]
    const place = await adapter.newPlace()
    onTestFinished(() => place.remove())
    // Nobody has created the journal yet: creating it is part of the race.
    const children = Array.from({ length: writers }, (_, writer) =>
      startChild({ adapter: adapter.name, place: place.name, task: 'write', options: { writer, count } }),
    )
    await allReady(children)
    for (const child of children) child.tell()
    for (const { code, errors } of await Promise.all(children.map((child) => child.ended)))
      expect({ code, errors }).toEqual({ code: 0, errors: '' })
    const journal = await openAt(adapter, place.name)
    const events = await journal.read(0, 10_000)
    const values = events.map(({ data }) => JSON.stringify((data as { n: unknown }).n))
    expect(new Set(values).size).toBe(writers * count)
    expect(values).toHaveLength(writers * count)
    expect(await journal.verify()).toEqual({ events: writers * count, streams: writers + 1, breaks: [] })
    expect(await journal.viewRow(total.name, 'all')).toMatchObject({ events: writers * count })
    expect(await journal.viewRow(lastValues.name, 'shared')).toMatchObject({ events: (writers * count) / 2 })
    expect(await journal.rebuildViews()).toEqual([])
  })

  it('take work at once: each piece has one holder', { timeout }, async () => {
    const journal = await freshJournal(adapter)
    await enqueued(journal, ...Array.from({ length: 200 }, (_, n) => workOf(`k/${n}`)))
    const children = Array.from({ length: 4 }, (_, n) =>
      startChild({ adapter: adapter.name, place: journal.place, task: 'claim', options: { owner: `o/${n}` } }),
    )
    await allReady(children)
    for (const child of children) child.tell()
    expect((await Promise.all(children.map((child) => child.ended))).map(({ code }) => code)).toEqual([0, 0, 0, 0])
    const taken = children.flatMap(({ said }) => said.filter(({ key }) => key !== undefined))
    expect(taken).toHaveLength(200)
    expect(new Set(taken.map(({ key }) => key)).size).toBe(200)
    expect(new Set(taken.map(({ fence }) => fence)).size).toBe(200)
  })

  it('hear of one another', { timeout }, async () => {
    const journal = await freshJournal(adapter)
    const byEvent = startChild({ adapter: adapter.name, place: journal.place, task: 'waitForNews' })
    await allReady([byEvent])
    await enqueued(journal, workOf('k'))
    await byEvent.hears(({ woken }) => woken === true)
    const byWork = startChild({ adapter: adapter.name, place: journal.place, task: 'waitForNews' })
    await allReady([byWork])
    await appended(journal, 's', 0, 1)
    await byWork.hears(({ woken }) => woken === true)
    expect((await Promise.all([byEvent.ended, byWork.ended])).map(({ code }) => code)).toEqual([0, 0])
  })
}

function killing(adapter: JournalAdapter): void {
  it('may be killed at any time: what was acknowledged is there, and every chain holds', { timeout }, async () => {
    // Nobody else has the journal open, so that every round begins with a recovery.
    const place = await adapter.newPlace()
    onTestFinished(() => place.remove())
    const acknowledged = new Map<number, string>()
    for (let round = 0; round < 12; round += 1) {
      const child = startChild({ adapter: adapter.name, place: place.name, task: 'write', options: { writer: round, count: 1_000_000 } })
      await allReady([child])
      child.tell()
      // After a varying number of acknowledgements, so that the kill hits varying moments of an append.
      await child.hears(({ n }) => Number(n) >= round * 3)
      child.kill('SIGKILL')
      const { signal } = await child.ended
      expect(signal).toBe('SIGKILL')
      const heard = child.said.filter(({ position }) => position !== undefined)
      expect(heard.length).toBeGreaterThan(round * 3)
      expect(heard.length).toBeLessThan(1_000_000)
      for (const { position, hash } of heard) acknowledged.set(Number(position), String(hash))

      const reopened = await openAt(adapter, place.name)
      const stored = new Map((await reopened.read(0, 1_000_000)).map(({ position, hash }) => [position, hash]))
      for (const [position, hash] of acknowledged) expect(stored.get(position)).toBe(hash)
      expect((await reopened.verify()).breaks).toEqual([])
      expect(await reopened.rebuildViews()).toEqual([])
      await reopened.close()
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(12)
  })
}

function pausing(adapter: JournalAdapter): void {
  it('fence a holder that was paused past its lease: it writes nothing', { timeout }, async () => {
    const leaseMs = 300
    const journal = await freshJournal(adapter)
    await enqueued(journal, workOf('k'))
    const holder = startChild({ adapter: adapter.name, place: journal.place, task: 'hold', options: { leaseMs } })
    const { lease } = (await holder.hears(({ lease }) => lease !== undefined)) as { lease: { fence: number; until: number } }
    holder.kill('SIGSTOP')
    holder.tell()
    let heirs: Awaited<ReturnType<typeof journal.claim>> = []
    while (heirs.length === 0) {
      await journal.waitForNews(1_000_000, 20)
      heirs = await journal.claim({ owner: 'heir', limit: 1, leaseMs: 600_000 })
    }
    const [heir] = heirs
    if (heir === undefined) throw new Error('nobody inherited the work')
    // The fault fired: the holder had not said a word more when somebody else took its work, after its lease.
    expect(holder.said).toHaveLength(1)
    expect(heir).toMatchObject({ key: 'k', claims: 2 })
    expect(heir.fence).toBeGreaterThan(lease.fence)
    holder.kill('SIGCONT')
    const answer = await holder.hears(({ result }) => result !== undefined)
    expect(answer).toEqual({ result: { ok: false, code: 'lease_lost', key: 'k' }, beat: false })
    expect(await journal.head('outcome')).toBe(0)
    const settled = await journal.append({ streams: [{ stream: 'outcome', expected: 0, events: [happened('heir')] }], settles: heir, meta })
    expect(settled).toMatchObject({ ok: true })
    expect((await holder.ended).code).toBe(0)
  })
}
