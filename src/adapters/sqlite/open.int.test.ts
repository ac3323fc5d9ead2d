import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { appended, lastValues, total } from '../../testing/journal-suite/samples.ts'
import { migrations } from './file/schema.ts'
import { openSqliteJournal } from './journal.ts'

const views = [lastValues, total]

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-open-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'assay.db')
}

/** A closed journal of some size. */
async function written(events = 200): Promise<string> {
  const path = newPath()
  const journal = await openSqliteJournal({ path, views })
  for (let n = 0; n < events; n += 20)
    await appended(journal, `s/${n}`, 0, ...Array.from({ length: 20 }, (_, m) => `${n + m} ${'x'.repeat(300)}`))
  await journal.close()
  return path
}

function edit(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

async function refusal(path: string): Promise<{ code: string; message: string }> {
  const opened = await openSqliteJournal({ path, views }).catch((error: unknown) => error)
  if (!(opened instanceof Error)) throw new Error('it was opened')
  expect(opened.name).toBe('JournalFault')
  return opened as Error & { code: string }
}

it.each([
  ['a text', (path: string) => writeFileSync(path, 'dear diary, '.repeat(100))],
  ['a few bytes', (path: string) => writeFileSync(path, 'SQL')],
  ['a database of another program', (path: string) => edit(path, 'CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES (1)')],
  ['a database that another program has claimed', (path: string) => edit(path, 'PRAGMA application_id = 7')],
  [
    'a journal of a newer version',
    (path: string) => edit(path, `PRAGMA application_id = ${0x41534159}; PRAGMA user_version = ${migrations.length + 1}`),
  ],
])('refuses %s and leaves it as it was', async (_what, make) => {
  const path = newPath()
  make(path)
  const before = readFileSync(path)
  const { code, message } = await refusal(path)
  expect(code).toBe('not_a_journal')
  expect(message).toContain(path)
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readdirSync(join(path, '..'))).toEqual(['assay.db'])
})

it('says which versions do not fit', async () => {
  const path = newPath()
  edit(path, `PRAGMA application_id = ${0x41534159}; PRAGMA user_version = 99`)
  expect((await refusal(path)).message).toMatch(/newer Assay \(schema 99, this one knows up to \d+\)\. Update Assay/)
})

it('refuses a folder where the file should be', async () => {
  const path = newPath()
  mkdirSync(path)
  expect((await refusal(path)).code).toBe('not_a_journal')
})

it('takes an empty file for a new journal', async () => {
  const path = newPath()
  writeFileSync(path, '')
  const journal = await openSqliteJournal({ path, views })
  await appended(journal, 's', 0, 1)
  await journal.close()
})

it.each([
  ['half of the file', (path: string) => truncateSync(path, 40_960)],
  ['a missing table', (path: string) => edit(path, 'DROP TABLE streams')],
  ['a trigger that is not its own', (path: string) => edit(path, 'CREATE TRIGGER evil AFTER INSERT ON events BEGIN DELETE FROM work; END')],
  ['a table that is not its own', (path: string) => edit(path, 'CREATE TABLE customers (name TEXT)')],
  ['a view that is not its own', (path: string) => edit(path, 'CREATE VIEW everything AS SELECT * FROM events')],
  ['an index that is gone', (path: string) => edit(path, 'DROP INDEX work_ready')],
  ['a missing record of the end', (path: string) => edit(path, 'DELETE FROM journal')],
  ['a page of noise', (path: string) => writeFileSync(path, readFileSync(path).fill(0xa5, 8192, 12_288))],
])('refuses %s as damage, and repairs nothing by itself', async (_what, damage) => {
  const path = await written()
  damage(path)
  const before = readFileSync(path)
  const { code, message } = await refusal(path)
  expect(code).toBe('corrupt')
  expect(message).toMatch(/damaged/)
  expect(message).toMatch(/backup/)
  expect(readFileSync(path).equals(before)).toBe(true)
})

it('refuses views of the same name', async () => {
  await expect(openSqliteJournal({ path: newPath(), views: [total, total] })).rejects.toThrow('same name')
})

it('keeps serving while another process holds the lock, and then writes', async () => {
  const path = newPath()
  const journal = await openSqliteJournal({ path, views })
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  let settled = false
  const pending = appended(journal, 's', 0, 1).finally(() => {
    settled = true
  })
  for (let turns = 0; turns < 20; turns += 1) await delay(2)
  expect(settled).toBe(false)
  other.exec('COMMIT')
  expect(await pending).toHaveLength(1)
  other.close()
  await journal.close()
})

it('leaves a plain file that the same program opens again, the record of where it ends, and no other', async () => {
  const path = await written(20)
  expect(readdirSync(join(path, '..'))).toEqual(['assay.db', 'assay.head'])
  expect(execFileSync('head', ['-c', '15', path], { encoding: 'utf8' })).toBe('SQLite format 3')
  const journal = await openSqliteJournal({ path, views })
  expect(await journal.verify()).toEqual({ events: 20, streams: 1, breaks: [] })
  await journal.close()
})

it('names in an audit what somebody put into an open journal', async () => {
  const path = await written(20)
  const journal = await openSqliteJournal({ path, views })
  edit(path, "CREATE TRIGGER evil AFTER INSERT ON events BEGIN UPDATE view_rows SET row = '{}'; END")
  expect((await journal.verify()).breaks).toMatchObject([
    { stream: '(journal)', problem: "the trigger evil is not Assay's: it could change what is stored" },
  ])
  await journal.close()
})
