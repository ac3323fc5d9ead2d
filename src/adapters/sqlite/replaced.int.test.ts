import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bodyOf } from '../../contract/chain.ts'
import { eventHash } from '../../contract/events/links.ts'
import type { Journal } from '../../ports/journal.ts'
import { openSqliteJournal } from './journal.ts'

const meta = { at: '2026-11-15T00:00:00.000Z', actor: 'runtime' }
let folder: string
let path: string
let journal: Journal

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-replaced-'))
  path = join(folder, 'assay.db')
  journal = await openSqliteJournal({ path, views: [] })
  for (const type of ['a.done', 'b.done']) await append(type)
})
afterEach(async () => {
  await journal.close()
  rmSync(folder, { recursive: true, force: true })
})

async function append(type: string): Promise<unknown> {
  const expected = await journal.head('task/x')
  return journal.append({ streams: [{ stream: 'task/x', expected, events: [{ type, v: 1, data: {} }] }], meta })
}

describe('a journal whose file somebody else handles', () => {
  it('acknowledges nothing once the file is deleted', async () => {
    rmSync(path)
    await expect(append('c.done')).rejects.toMatchObject({ name: 'JournalFault', code: 'io' })
  })

  it('acknowledges nothing once the folder was put away and another is in its place', async () => {
    renameSync(path, `${path}.away`)
    renameSync(join(folder, 'assay.head'), join(folder, 'assay.head.away'))
    const other = await openSqliteJournal({ path, views: [] })
    await expect(append('c.done')).rejects.toMatchObject({ name: 'JournalFault', code: 'io' })
    expect(await other.position()).toBe(0)
    await other.close()
  })

  it('finds an event forged below the first position, with a hash that fits', async () => {
    const db = new DatabaseSync(path)
    const head = db.prepare('SELECT hash FROM streams').get() as { hash: string }
    const body = bodyOf({ type: 'task.accepted', v: 1, data: { flag: 'clean' } }, meta)
    const hash = eventHash(head.hash, 'task/x', 3, body)
    db.prepare("INSERT INTO events (position, stream, version, prev, hash, place, body) VALUES (-7, 'task/x', 3, ?, ?, '', ?)").run(
      head.hash,
      hash,
      body,
    )
    db.close()
    expect((await journal.verify()).breaks.length).toBeGreaterThan(0)
    await expect(journal.readStream('task/x')).rejects.toMatchObject({ code: 'corrupt' })
  })

  it('does not read over an event that was taken out', async () => {
    const db = new DatabaseSync(path)
    db.exec('DELETE FROM events WHERE position = 1')
    db.close()
    await expect(journal.read(0, 10)).rejects.toMatchObject({ code: 'corrupt' })
  })
})
