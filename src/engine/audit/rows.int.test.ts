import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteJournal } from '../../adapters/sqlite/journal.ts'
import type { Journal } from '../../ports/journal.ts'
import { makeHome } from '../../testing/tamper/home.ts'
import { engineViews, type TaskRow } from '../views/tasks.ts'
import { provenList, provenMission, provenRow } from './rows.ts'

let home = ''
let journal: Journal
const rowsOf = async () => (await journal.viewRows('tasks')).map(({ row }) => row as TaskRow)

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'assay-rows-'))
  await makeHome(home)
  journal = await openSqliteJournal({ path: join(home, 'assay.db'), views: engineViews })
}, 120_000)
afterAll(async () => {
  await journal.close()
  rmSync(home, { recursive: true, force: true })
})

describe('rows of tasks', () => {
  it('are what their events come to', async () => {
    const rows = await rowsOf()
    expect(rows.length).toBeGreaterThan(3)
    for (const row of rows) expect(await provenRow(journal, row.id)).toEqual(row)
    expect(await provenList(journal, rows)).toEqual({ rows, proven: true })
    expect(await provenMission(journal, rows)).toEqual({ rows, proven: true })
  })

  it('that were edited into a pass are not shown as one', async () => {
    const low = (await rowsOf()).find(({ title }) => title === 'low')
    expect(low).toMatchObject({ status: 'done', flag: 'below-threshold' })
    const db = new DatabaseSync(join(home, 'assay.db'))
    const { changes } = db
      .prepare("UPDATE view_rows SET row = replace(row, 'below-threshold', 'clean') WHERE view = 'tasks' AND key = ?")
      .run(low?.id ?? '')
    db.close()
    expect(changes, 'the fault fired').toBe(1)
    expect((await rowsOf()).find(({ title }) => title === 'low')?.flag).toBe('clean')
    await expect(provenRow(journal, low?.id ?? '')).rejects.toMatchObject({ name: 'JournalFault', code: 'corrupt' })
    await expect(provenList(journal, await rowsOf())).rejects.toThrow(/changed by hand/)
    await expect(provenMission(journal, await rowsOf())).rejects.toThrow(/changed by hand/)
  })

  it('of a mission are proved whatever state they were edited into', async () => {
    const other = (await rowsOf()).find(({ status, title }) => status === 'done' && title !== 'low')
    const db = new DatabaseSync(join(home, 'assay.db'))
    const edit = db.prepare("UPDATE view_rows SET row = replace(row, ?, ?) WHERE view = 'tasks' AND key = ?")
    const { changes } = edit.run('"status":"done"', '"status":"failed"', other?.id ?? '')
    db.close()
    expect(changes, 'the fault fired').toBe(1)
    const edited = (await rowsOf()).filter(({ id }) => id === other?.id)
    expect(edited).toMatchObject([{ status: 'failed' }])
    await expect(provenMission(journal, edited)).rejects.toThrow(/changed by hand/)
  })
})
