import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventHash } from '../../contract/events/links.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import { type ChainBreak, JournalFault } from '../../ports/journal.ts'
import { appended } from '../../testing/journal-suite/samples.ts'
import { openSqliteJournal } from './journal.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-tamper-'))
const original = join(folder, 'original.db')
const copy = join(folder, 'copy.db')
let events: StoredEvent[] = []

beforeAll(async () => {
  const journal = await openSqliteJournal({ path: original, views: [] })
  for (let n = 0; n < 40; n += 1) await appended(journal, `task/${n % 5}`, Math.floor(n / 5), { n, text: 'accept '.repeat(n) })
  events = await journal.read(0, 1000)
  await journal.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Which streams or positions a break may name for the edit to count as found where it was made. */
interface Edit {
  what: string
  streams: string[]
  apply(db: DatabaseSync): void
}

const run =
  (sql: string, ...values: (string | number)[]) =>
  (db: DatabaseSync) => {
    const { changes } = db.prepare(sql).run(...values)
    if (changes === 0) throw new Error(`the edit did nothing: ${sql}`)
  }

const anyEvent = fc.nat(39).map((index) => events[index] as StoredEvent)
const twoEvents = fc.uniqueArray(anyEvent, { minLength: 2, maxLength: 2, selector: ({ position }) => position }) as fc.Arbitrary<
  [StoredEvent, StoredEvent]
>

function flipped(text: string, at: number): string {
  const index = at % text.length
  const code = text.charCodeAt(index)
  return `${text.slice(0, index)}${String.fromCharCode(code === 0x61 ? 0x62 : 0x61)}${text.slice(index + 1)}`
}

const editedText = fc
  .tuple(anyEvent, fc.constantFrom('stream', 'prev', 'hash', 'place', 'body'), fc.nat())
  .map(([event, column, at]): Edit => {
    const changed = (db: DatabaseSync) => {
      const row = db.prepare(`SELECT ${column} AS text FROM events WHERE position = ?`).get(event.position) as { text: string }
      return flipped(row.text, at)
    }
    return {
      what: `${column} of ${event.position}`,
      streams: [event.stream],
      apply: (db) => run(`UPDATE events SET ${column} = ? WHERE position = ?`, changed(db), event.position)(db),
    }
  })
const editedNumber = fc.tuple(anyEvent, fc.constantFrom(-7, 0, 100, 2 ** 53 + 2)).map(
  ([event, version]): Edit => ({
    what: `version of ${event.position} to ${version}`,
    streams: [event.stream],
    apply: (db) => run('UPDATE events SET version = CAST(? AS INTEGER) WHERE position = ?', version, event.position)(db),
  }),
)
const deleted = anyEvent.map(
  (event): Edit => ({
    what: `deleted ${event.position}`,
    streams: [event.stream],
    apply: run('DELETE FROM events WHERE position = ?', event.position),
  }),
)
const truncated = fc.integer({ min: 1, max: 39 }).map(
  (keep): Edit => ({
    what: `truncated to ${keep}`,
    streams: events.slice(keep).map(({ stream }) => stream),
    apply: run('DELETE FROM events WHERE position > ?', keep),
  }),
)
const moved = fc.tuple(anyEvent, fc.constantFrom(-1, 0, 1000)).map(
  ([event, to]): Edit => ({
    what: `moved ${event.position} to ${to}`,
    streams: events.map(({ stream }) => stream),
    apply: run('UPDATE events SET position = ? WHERE position = ?', to, event.position),
  }),
)
const swapped = fc.tuple(twoEvents, fc.constantFrom('position', 'body')).map(([[a, b], what]): Edit => {
  const swap = (db: DatabaseSync) => {
    if (what === 'position') {
      run('UPDATE events SET position = -5 WHERE position = ?', a.position)(db)
      run('UPDATE events SET position = ? WHERE position = ?', a.position, b.position)(db)
      run('UPDATE events SET position = ? WHERE position = -5', b.position)(db)
      return
    }
    const body = (event: StoredEvent) =>
      (db.prepare('SELECT body FROM events WHERE position = ?').get(event.position) as { body: string }).body
    const [bodyA, bodyB] = [body(a), body(b)]
    run('UPDATE events SET body = ? WHERE position = ?', bodyB, a.position)(db)
    run('UPDATE events SET body = ? WHERE position = ?', bodyA, b.position)(db)
  }
  const between = events.filter(
    ({ position }) => position >= Math.min(a.position, b.position) && position <= Math.max(a.position, b.position) + 1,
  )
  return { what: `swapped ${what} of ${a.position} and ${b.position}`, streams: between.map(({ stream }) => stream), apply: swap }
})
const duplicated = anyEvent.map(
  (event): Edit => ({
    what: `repeated ${event.position}`,
    streams: [event.stream],
    apply: run('INSERT INTO events SELECT 41, stream, 9, prev, hash, place, body FROM events WHERE position = ?', event.position),
  }),
)
/** What somebody does who knows the format: the event's own hash is right, those after it are not. */
const rewritten = anyEvent.map((event): Edit => {
  const body = '{"data":{"n":"forged"},"meta":{"actor":"owner","at":"2026-01-01T00:00:00.000Z"},"type":"task.accepted","v":1}'
  const hash = eventHash(event.prev, event.stream, event.version, body)
  return {
    what: `rewrote ${event.position}`,
    streams: [event.stream],
    apply: run('UPDATE events SET body = ?, hash = ? WHERE position = ?', body, hash, event.position),
  }
})
const editedHead = fc
  .tuple(fc.nat(4), fc.constantFrom('version = version - 1', 'version = 9223372036854775807', "hash = 'none'", "stream = 'task/9'"))
  .map(
    ([n, change]): Edit => ({
      what: `head of task/${n}: ${change}`,
      streams: [`task/${n}`],
      apply: run(`UPDATE streams SET ${change} WHERE stream = ?`, `task/${n}`),
    }),
  )
const removedHead = fc.nat(4).map(
  (n): Edit => ({
    what: `no head of task/${n}`,
    streams: [`task/${n}`],
    apply: run('DELETE FROM streams WHERE stream = ?', `task/${n}`),
  }),
)
const inventedHead = fc.constant<Edit>({
  what: 'an invented head',
  streams: ['task/7'],
  apply: run("INSERT INTO streams VALUES ('task/7', 3, 'abc')"),
})
const removedStream = fc.nat(4).map(
  (n): Edit => ({
    what: `removed task/${n} with its head`,
    streams: events.map(({ stream }) => stream).concat('(journal)'),
    apply: (db) => {
      run('DELETE FROM events WHERE stream = ?', `task/${n}`)(db)
      run('DELETE FROM streams WHERE stream = ?', `task/${n}`)(db)
    },
  }),
)
const renamedStream = fc.nat(4).map(
  (n): Edit => ({
    what: `renamed task/${n} everywhere`,
    streams: ['task/other'],
    apply: (db) => {
      run("UPDATE events SET stream = 'task/other' WHERE stream = ?", `task/${n}`)(db)
      run("UPDATE streams SET stream = 'task/other' WHERE stream = ?", `task/${n}`)(db)
    },
  }),
)
const editedEnd = fc
  .constantFrom('position = 39', 'position = 9007199254740995', "place = 'none'", "views = 'x'", `views = '{"tasks":"all"}'`)
  .map((change): Edit => ({ what: `record of the end: ${change}`, streams: ['(journal)'], apply: run(`UPDATE journal SET ${change}`) }))
const inventedRow = fc.constant<Edit>({
  what: 'a row of an unknown list',
  streams: ['(journal)'],
  apply: run("INSERT INTO view_rows (view, key, row) VALUES ('mine', 'a', '{}')"),
})

const anyEdit = fc.oneof(
  { weight: 5, arbitrary: editedText },
  ...[
    editedNumber,
    deleted,
    truncated,
    moved,
    swapped,
    duplicated,
    rewritten,
    editedHead,
    removedHead,
    inventedHead,
    removedStream,
    renamedStream,
    editedEnd,
    inventedRow,
  ].map((arbitrary) => ({ weight: 2, arbitrary })),
)

async function breaksOf(path: string): Promise<ChainBreak[] | 'refused'> {
  try {
    const journal = await openSqliteJournal({ path, views: [] })
    const { breaks } = await journal.verify()
    await journal.close()
    return breaks
  } catch (error) {
    if (error instanceof JournalFault && error.code === 'corrupt') return 'refused'
    throw error
  }
}

it('verifies what nobody touched', async () => {
  copyFileSync(original, copy)
  expect(await breaksOf(copy)).toEqual([])
})

it('finds every edit of stored rows, and where it was made', { timeout: 300_000 }, async () => {
  let found = 0
  const property = fc.asyncProperty(anyEdit, async ({ what, streams, apply }) => {
    copyFileSync(original, copy)
    const db = new DatabaseSync(copy)
    apply(db)
    db.close()
    const breaks = await breaksOf(copy)
    expect(breaks, what).not.toEqual([])
    if (breaks !== 'refused')
      expect(
        breaks.some(({ stream }) => streams.includes(stream)),
        `${what}: ${JSON.stringify(breaks)}`,
      ).toBe(true)
    found += 1
  })
  await fc.assert(property, { numRuns: 400 })
  expect(found).toBe(400)
})

it('names the exact position of a changed event, and does not hand it to a reader', async () => {
  for (const { position, stream, version } of [events[0], events[17], events[39]] as StoredEvent[]) {
    copyFileSync(original, copy)
    const db = new DatabaseSync(copy)
    run("UPDATE events SET body = replace(body, 'tester', 'owner') WHERE position = ?", position)(db)
    db.close()
    const journal = await openSqliteJournal({ path: copy, views: [] })
    expect((await journal.verify()).breaks).toEqual([
      { stream, version, position, problem: expect.stringContaining('does not match its hash') },
    ])
    await expect(journal.readStream(stream)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(`event ${position} (stream ${stream}, version ${version})`),
    })
    await expect(journal.read(0, 100)).rejects.toMatchObject({ code: 'corrupt' })
    await journal.close()
  }
})

it('does not hand out a stream whose tail was cut', async () => {
  copyFileSync(original, copy)
  const db = new DatabaseSync(copy)
  run('DELETE FROM events WHERE position = 40')(db)
  db.close()
  const journal = await openSqliteJournal({ path: copy, views: [] })
  await expect(journal.readStream('task/4')).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining('task/4') })
  await journal.close()
})

it('finds an index that does not tell what its table holds', async () => {
  const db = new DatabaseSync(original, { readOnly: true })
  const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'events_of_stream'").get() as { rootpage: number }
  db.close()
  const bytes = readFileSync(original)
  const inIndex = bytes.indexOf('task/1', (rootpage - 1) * 4096)
  expect(inIndex).toBeLessThan(rootpage * 4096)
  bytes.write('task/x', inIndex)
  writeFileSync(copy, bytes)
  const breaks = await breaksOf(copy)
  expect(breaks).not.toEqual([])
  if (breaks !== 'refused') expect(breaks[0]).toMatchObject({ stream: '(journal)', problem: expect.stringContaining('events_of_stream') })
})

it('lets no flipped byte of the file change what is read', { timeout: 300_000 }, async () => {
  const bytes = readFileSync(original)
  let harmful = 0
  const property = fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ mask
    writeFileSync(copy, damaged)
    const outcome = await openSqliteJournal({ path: copy, views: [] }).then(
      async (journal) => {
        const { breaks } = await journal.verify()
        const read = breaks.length > 0 ? 'found' : await journal.read(0, 1000)
        const byStream = await Promise.all([0, 1, 2, 3, 4].map((n) => journal.readStream(`task/${n}`))).catch(() => [])
        await journal.close()
        if (read !== 'found') expect(byStream.flat().sort((a, b) => a.position - b.position)).toEqual(events)
        return read
      },
      (error: unknown) => {
        if (error instanceof JournalFault) return 'found'
        throw error
      },
    )
    if (outcome === 'found') harmful += 1
    else expect(outcome).toEqual(events)
  })
  await fc.assert(property, { numRuns: 300 })
  expect(harmful).toBeGreaterThan(50)
})

it('refuses a damaged write-ahead log that lacks what was acknowledged; without a record of that it is read up to a whole append', {
  timeout: 300_000,
}, async () => {
  const live = join(folder, 'live.db')
  await (await openSqliteJournal({ path: live, views: [] })).close()
  const writer = await openSqliteJournal({ path: live, views: [] })
  for (let n = 0; n < 12; n += 1) await appended(writer, 's', n * 2, { n }, { n, text: 'x'.repeat(500) })
  const [database, log, head] = [readFileSync(live), readFileSync(`${live}-wal`), readFileSync(live.replace('.db', '.head'))]
  const hashes = (await writer.readStream('s')).map(({ hash }) => hash)
  await writer.close()
  let shortened = 0
  let refused = 0
  const property = fc.asyncProperty(fc.nat(log.length - 1), fc.boolean(), async (at, cut) => {
    const damaged = cut ? log.subarray(0, at) : Buffer.from(log)
    if (!cut) damaged[at] = (damaged[at] ?? 0) ^ 0x55
    writeFileSync(copy, database)
    writeFileSync(`${copy}-wal`, damaged)
    writeFileSync(copy.replace('.db', '.head'), head)
    const opened = await openSqliteJournal({ path: copy, views: [] }).catch((error: JournalFault) => error)
    if (opened instanceof JournalFault) {
      refused += 1
      expect(opened.message).toMatch(/24 events were acknowledged/)
      expect(readFileSync(`${copy}-wal`).equals(damaged)).toBe(true)
    } else {
      expect(await opened.position()).toBe(24)
      await opened.close()
      writeFileSync(copy, database)
      writeFileSync(`${copy}-wal`, damaged)
    }
    rmSync(copy.replace('.db', '.head'))
    const journal = await openSqliteJournal({ path: copy, views: [] })
    const read = (await journal.readStream('s')).map(({ hash }) => hash)
    expect(read).toEqual(hashes.slice(0, read.length))
    expect(read.length % 2).toBe(0)
    expect((await journal.verify()).breaks).toEqual([])
    await appended(journal, 's', read.length, 'goes on')
    await journal.close()
    if (read.length < hashes.length) shortened += 1
  })
  await fc.assert(property, { numRuns: 100 })
  expect(shortened).toBeGreaterThan(50)
  expect(refused).toBe(shortened)
})
