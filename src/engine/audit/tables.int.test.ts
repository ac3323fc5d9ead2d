import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openInventory } from '../../adapters/snapshots/inventory.ts'
import { openSqliteJournal } from '../../adapters/sqlite/journal.ts'
import type { Policy } from '../../contract/policy.ts'
import { JournalFault } from '../../ports/journal.ts'
import { eyesOf } from '../../testing/engine/brains.ts'
import { openWorkshop } from '../../testing/engine/workshop.ts'
import { makeHome } from '../../testing/tamper/home.ts'
import { specWith } from '../../testing/task/world.ts'
import { engineViews } from '../views/tasks.ts'
import { unopenable, verifyEverything } from './verify.ts'

const timeout = 300_000
const folder = mkdtempSync(join(tmpdir(), 'assay-tables-'))
const home = join(folder, 'home')
const copy = join(folder, 'copy')
const config = {
  brains: { eyes: { kind: 'scripted', file: 'eyes.yaml' } },
  agents: { dev: { role: 'engineer', brain: 'eyes' }, ada: { role: 'reviewer', brain: 'eyes' } },
  notify: { channels: { hook: { kind: 'webhook', url: 'http://127.0.0.1:9/' } }, rules: [{ events: ['mission.*'], channels: ['hook'] }] },
}
let policy: Policy

/**
 * What may be changed without the audit saying so, and why nothing comes of it. Everything else in the database is held against the journal's
 * events. `docs/concepts/audit.md` says the same.
 */
const harmless: Readonly<Record<string, string>> = {
  'journal.fence':
    'counts claims: raised, it skips numbers; below a lease that was given out it is named, and whatever settles work is held against its stream, too',
  'journal.news': 'wakes those who wait, who also look by themselves',
  'queue_clock.boot': 'another start of the machine: what waits is due, and leases end soon',
  'queue_clock.added': 'leases end sooner or later; whoever lost one cannot settle its work',
  'work.seq': 'the order of work that is equally urgent',
  'work.owner': 'who has a lease: it ends, and somebody else takes the work',
  'work.fence': 'as the owner; one that was never given out is named',
  'work.claims': 'lengthens pauses; more than there were claims is named',
  'work.waiting': 'the work is done sooner, or when it is due',
  'work.ready_at': 'the same; longer than work ever waits is named',
  'work.postponed': 'a telling is given up sooner, which is recorded',
  'queue_clock: a row deleted': 'made anew when the journal is opened',
  'work: a row deleted (notify)': 'a telling is not sent: what it tells of is in the journal, and what waits for the owner in the inbox',
}

beforeAll(async () => {
  await makeHome(home)
  const journal = await openSqliteJournal({ path: join(home, 'assay.db'), views: engineViews })
  const { engine, parts } = openWorkshop({ config, brains: { eyes: eyesOf(() => '') }, journal, folder: home })
  policy = parts.rules.policy
  const started = await engine.start({ id: 'later', name: 'Later', tasks: [specWith({ id: 'later/one', mission: 'later', criteria: [] })] })
  expect(started.ok).toBe(true)
  expect((await journal.queued()).map(({ kind }) => kind).sort()).toEqual(['notify', 'run_attempt'])
  await journal.claim({ owner: 'gone', kinds: ['run_attempt'], limit: 1, leaseMs: 60_000 })
  await engine.close()
}, timeout)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function audit(of: string) {
  try {
    const journal = await openSqliteJournal({ path: join(of, 'assay.db'), views: engineViews })
    try {
      const { snapshots } = openWorkshop({ config, brains: {}, journal, folder: of }).parts
      return await verifyEverything({ journal, snapshots, inventory: openInventory(join(of, 'objects')), policy })
    } finally {
      await journal.close()
    }
  } catch (error) {
    if (error instanceof JournalFault) return unopenable(error)
    throw error
  }
}

/** What the audit finds after a change of the database; undefined where nothing could be changed. */
async function foundAfter(change: (db: DatabaseSync) => number | bigint): Promise<string[] | undefined> {
  rmSync(copy, { recursive: true, force: true })
  cpSync(home, copy, { recursive: true })
  const db = new DatabaseSync(join(copy, 'assay.db'))
  const changes = Number(change(db))
  db.close()
  return changes === 0 ? undefined : (await audit(copy)).breaks.map(({ stream, problem }) => `${stream}: ${problem}`)
}

interface Column {
  name: string
  type: string
}

const withHome = <T>(look: (db: DatabaseSync) => T): T => {
  const db = new DatabaseSync(join(home, 'assay.db'), { readOnly: true })
  try {
    return look(db)
  } finally {
    db.close()
  }
}
const tables = () =>
  withHome((db) =>
    (db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all() as { name: string }[]).map(({ name }) => name),
  )
const columnsOf = (table: string) =>
  withHome((db) => db.prepare(`SELECT name, type FROM pragma_table_info('${table}')`).all() as unknown as Column[])
const keyOf = (table: string) => (table === 'streams' ? 'stream' : 'rowid')
const rowsOf = (table: string) =>
  withHome((db) => db.prepare(`SELECT ${keyOf(table)} AS id, * FROM ${table} ORDER BY 1 DESC`).all() as Record<string, SQLInputValue>[])

describe('every table of the database', () => {
  it('is known here', () => {
    expect(tables()).toEqual(['events', 'journal', 'queue_clock', 'streams', 'view_rows', 'work'])
    for (const table of tables()) expect(rowsOf(table).length, table).toBeGreaterThan(0)
  })

  it('is as it was made', { timeout }, async () => {
    expect(await foundAfter(() => 1)).toEqual([])
  })

  it('is named where a value was edited, or no harm comes of it', { timeout }, async () => {
    const unseen = new Set<string>()
    for (const table of tables()) {
      for (const { name, type } of columnsOf(table)) {
        // Of the queue every row: they are of different kinds.
        for (const { id } of table === 'work' ? rowsOf(table) : rowsOf(table).slice(0, 1)) {
          const edited = type === 'TEXT' ? `coalesce(${name}, '') || 'x'` : `${name} + 1`
          const found = await foundAfter(
            (db) => db.prepare(`UPDATE OR IGNORE ${table} SET ${name} = ${edited} WHERE ${keyOf(table)} = ?`).run(id ?? null).changes,
          )
          if (found?.length === 0) unseen.add(`${table}.${name}`)
        }
      }
    }
    expect([...unseen].filter((column) => !(column in harmless))).toEqual([])
  })

  it('is named where a row was deleted, or no harm comes of it', { timeout }, async () => {
    const unseen: string[] = []
    for (const table of tables()) {
      for (const { id, kind } of table === 'work' ? rowsOf(table) : rowsOf(table).slice(0, 1)) {
        const found = await foundAfter((db) => db.prepare(`DELETE FROM ${table} WHERE ${keyOf(table)} = ?`).run(id ?? null).changes)
        if (found?.length === 0) unseen.push(`${table}: a row deleted${table === 'work' ? ` (${kind})` : ''}`)
      }
    }
    expect(unseen.filter((what) => !(what in harmless))).toEqual([])
  })

  it('is named where a row was inserted', { timeout }, async () => {
    const unseen: string[] = []
    for (const table of tables()) {
      const columns = columnsOf(table).map(({ name }) => name)
      for (const { id } of table === 'work' ? rowsOf(table) : rowsOf(table).slice(0, 1)) {
        const inserted: Readonly<Record<string, string>> = {
          position: '(SELECT max(position) + 1 FROM events)',
          version: 'version + 1',
          seq: '(SELECT max(seq) + 1 FROM work)',
          key: "key || '0'",
          ...(table === 'streams' && { stream: "stream || '0'" }),
        }
        const copied = columns.map((name) => inserted[name] ?? name)
        const found = await foundAfter(
          (db) =>
            db.prepare(`INSERT OR IGNORE INTO ${table} SELECT ${copied.join(', ')} FROM ${table} WHERE ${keyOf(table)} = ?`).run(id ?? null)
              .changes,
        )
        // Two tables hold one row, by their own rule.
        if (found === undefined) expect(['journal', 'queue_clock']).toContain(table)
        else if (found.length === 0) unseen.push(table)
      }
    }
    expect(unseen).toEqual([])
  })
})

describe('the queue', () => {
  const work = (db: DatabaseSync, sql: string) => db.prepare(`UPDATE work SET ${sql}`).run().changes
  it.each<[string, (db: DatabaseSync) => number | bigint, RegExp]>([
    ['another task', (db) => work(db, `payload = '{"task":"plan-1/low"}' WHERE kind = 'run_attempt'`), /no event calls for it/],
    ['another mission', (db) => work(db, `scope = 'plan-1' WHERE kind = 'run_attempt'`), /no event calls for it/],
    ['another kind', (db) => work(db, `kind = 'run_checks' WHERE kind = 'run_attempt'`), /no event calls for it/],
    ['no kind', (db) => work(db, `kind = 'format_disk' WHERE kind = 'run_attempt'`), /no such work/],
    [
      'a telling of something else',
      (db) => work(db, `payload = replace(payload, 'Later', 'Sooner') WHERE kind = 'notify'`),
      /something else than the journal/,
    ],
    [
      'a telling of nothing',
      (db) => work(db, `payload = replace(payload, '"version":1', '"version":9') WHERE kind = 'notify'`),
      /does not have/,
    ],
    ['no payload', (db) => work(db, `payload = 'null' WHERE kind = 'notify'`), /does not say what is to be told/],
    ['broken text', (db) => work(db, `payload = '{' WHERE kind = 'notify'`), /cannot be read/],
    ['for ever', (db) => work(db, 'waiting = 1, ready_at = ready_at + 99999999999999'), /put off for longer/],
    ['a lease that nobody gave', (db) => work(db, 'fence = 999'), /nobody can have claimed it/],
    ['a fence that begins anew', (db) => db.prepare('UPDATE journal SET fence = 0').run().changes, /nobody can have claimed it/],
    ['counts below nothing', (db) => db.prepare('UPDATE journal SET news = -1').run().changes, /counts/],
    ['counts beyond all', (db) => db.prepare('UPDATE journal SET news = 9007199254740992').run().changes, /counts|journal/],
  ])('is named where it was edited to %s', { timeout }, async (_what, change, named) => {
    expect(await foundAfter(change)).toContainEqual(expect.stringMatching(named))
  })
})
