import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSqliteJournal } from './journal.ts'

it('work whose lease only the clock ended is not handed to its own holder a second time; to others it is', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-leases-'))
  let now = 1_000
  const journal = await openSqliteJournal({ path: join(folder, 'assay.db'), views: [], clock: { now: () => now } })
  onTestFinished(async () => {
    await journal.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const work = { key: 'w', kind: 'run_attempt', scope: 'm', priority: 1, payload: {} } as const
  await journal.append({ streams: [], meta: { at: new Date(0).toISOString(), actor: 'test' }, enqueue: [work] })
  const claim = (owner: string) => journal.claim({ owner, limit: 5, leaseMs: 100 })
  const [lease] = await claim('one')
  expect(lease?.key).toBe('w')
  now += 86_400_000
  expect(await claim('one')).toEqual([])
  expect(lease && (await journal.beat(lease, 100))).toBe(true)
  expect(await claim('two')).toEqual([])
  now += 86_400_000
  expect((await claim('two')).map(({ key }) => key)).toEqual(['w'])
  expect(lease && (await journal.beat(lease, 100))).toBe(false)
})

it('who found nothing to do finds what is added, given back or due since: by itself, by another, or by time', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-leases-'))
  let now = 1_000
  const open = () => openSqliteJournal({ path: join(folder, 'assay.db'), views: [], clock: { now: () => now } })
  const [here, there] = [await open(), await open()]
  onTestFinished(async () => {
    await here.close()
    await there.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const add = (journal: typeof here, key: string, delayMs = 0) =>
    journal.append({
      streams: [],
      meta: { at: new Date(0).toISOString(), actor: 'test' },
      enqueue: [{ key, kind: 'run_attempt', scope: 'm', priority: 1, payload: {}, delayMs }],
    })
  const claim = (journal = here, owner = 'one') => journal.claim({ owner, kinds: ['run_attempt'], scopes: ['m'], limit: 5, leaseMs: 100 })
  const keys = async (claimed: ReturnType<typeof claim>) => (await claimed).map(({ key }) => key)
  expect([await keys(claim()), await keys(claim())]).toEqual([[], []])
  await add(here, 'own')
  const [own] = await claim()
  expect(own?.key).toBe('own')
  expect(await keys(claim())).toEqual([])
  await add(there, "another's")
  expect(await keys(claim())).toEqual(["another's"])
  expect(await keys(claim())).toEqual([])
  expect(own && (await here.release(own, 0))).toBe(true)
  expect(await keys(claim())).toEqual(['own'])
  await add(here, 'later', 50)
  expect(await keys(claim())).toEqual([])
  now += 50
  expect(await keys(claim())).toEqual(['later'])
  expect(await keys(claim(there, 'two'))).toEqual([])
  expect(await here.reclaim((owner) => owner === 'one')).toBe(3)
  expect((await keys(claim(there, 'two'))).sort()).toEqual(["another's", 'later', 'own'])
})
