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
