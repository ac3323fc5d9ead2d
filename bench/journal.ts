/** What durability costs. Run: `npx node bench/journal.ts [--size small|full] [--dir folder]`. Every ratio is against a floor of the same run. */
import { fork } from 'node:child_process'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openSqliteJournal } from '../src/adapters/sqlite/journal.ts'
import type { Journal, View } from '../src/ports/journal.ts'
import { inTurns, printTable, ratio, residentMegabytes, timed, timedWithCpu } from './measure.ts'

const sizes = {
  small: { rounds: 3, single: 100, grouped: 1000, perProcess: 100, stored: 5000 },
  full: { rounds: 7, single: 1000, grouped: 10_000, perProcess: 2000, stored: 100_000 },
}
const groupSize = 100
const verdict = { verdict: 'reject', concern: 'The second criterion is not met: hello.txt says hallo. '.repeat(8), scores: [3, 4, 4, 2] }
const meta = { at: '2026-01-01T00:00:00.000Z', actor: 'bench' }

const { values: flags } = parseArgs({
  options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' }, child: { type: 'string' }, count: { type: 'string' } },
})

const counting: View<{ events: number }> = {
  name: 'counting',
  keys: (event) => [event.stream],
  fold: (row) => ({ events: (row?.events ?? 0) + 1 }),
}

function event(n: number) {
  return { type: 'verdict.recorded', v: 1, data: { n, ...verdict } }
}

async function appendOne(journal: Journal, stream: string, expected: number): Promise<void> {
  const result = await journal.append({ streams: [{ stream, expected, events: [event(expected)] }], meta })
  if (!result.ok) throw new Error(`append refused: ${result.code}`)
}

/** The floor: the bytes of an event, written and synced, nothing else. */
function rawWrites(dir: string, count: number, perSync: number): void {
  const bytes = Buffer.from(JSON.stringify({ ...event(0), meta, prev: '0'.repeat(64), hash: '0'.repeat(64) }))
  const file = openSync(join(dir, 'raw.log'), 'a')
  for (let done = 0; done < count; done += perSync) {
    for (let n = 0; n < perSync; n += 1) writeSync(file, bytes)
    fdatasyncSync(file)
  }
  closeSync(file)
}

async function oneByOne(journal: Journal, count: number, streams: Map<string, number>): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const stream = `task/${n % 50}`
    const expected = streams.get(stream) ?? 0
    await appendOne(journal, stream, expected)
    streams.set(stream, expected + 1)
  }
}

/** Many tasks at once, each waiting for its own append: what group commit is for. */
async function together(journal: Journal, count: number, prefix: string): Promise<void> {
  const chain = async (stream: string) => {
    for (let version = 0; version < count / groupSize; version += 1) await appendOne(journal, stream, version)
  }
  await Promise.all(Array.from({ length: groupSize }, (_, n) => chain(`${prefix}/${n}`)))
}

/** A unit of work as the engine does it: take it, append its outcome, which settles it and calls for the next. */
async function workLoop(journal: Journal, count: number, prefix: string): Promise<void> {
  await journal.append({
    streams: [],
    enqueue: [{ key: `${prefix}/0`, kind: 'ask_judge', scope: 'bench', priority: 1, payload: {} }],
    meta,
  })
  for (let n = 0; n < count; n += 1) {
    const [lease] = await journal.claim({ owner: 'bench', limit: 1, leaseMs: 60_000 })
    if (lease === undefined) throw new Error('the work is gone')
    const enqueue = n + 1 < count ? [{ key: `${prefix}/${n + 1}`, kind: 'ask_judge', scope: 'bench', priority: 1, payload: {} }] : []
    await journal.append({ streams: [{ stream: prefix, expected: n, events: [event(n)] }], meta, settles: lease, enqueue })
  }
}

async function durability(dir: string, size: (typeof sizes)['full']): Promise<void> {
  const journal = await openSqliteJournal({ path: join(dir, 'one.db'), views: [] })
  const viewed = await openSqliteJournal({ path: join(dir, 'viewed.db'), views: [counting] })
  const [streams, viewedStreams] = [new Map<string, number>(), new Map<string, number>()]
  let rounds = 0
  const newStreams = (prefix: string) => {
    rounds += 1
    return `${prefix}/${rounds}`
  }
  const per = async (count: number, work: () => unknown) => ((await timed(work)) * 1000) / count
  const result = await inTurns(size.rounds, {
    raw: () => per(size.single, () => rawWrites(dir, size.single, 1)),
    single: () => per(size.single, () => oneByOne(journal, size.single, streams)),
    viewed: () => per(size.single, () => oneByOne(viewed, size.single, viewedStreams)),
    work: () => per(size.single, () => workLoop(journal, size.single, newStreams('work'))),
    rawGrouped: () => per(size.grouped, () => rawWrites(dir, size.grouped, groupSize)),
    grouped: () => per(size.grouped, () => together(journal, size.grouped, newStreams('group'))),
  })
  await journal.close()
  await viewed.close()
  const row = (name: string, value: number, floor: number) => [name, value, 1e6 / value, ratio(value, floor)]
  printTable(
    'Durable appends (one event of about 0.6 kB each)',
    ['', 'µs each', 'per second', 'against floor'],
    [
      row('floor: write + fdatasync', result.raw, result.raw),
      row('append, one by one', result.single, result.raw),
      row('append, one by one, with a view', result.viewed, result.raw),
      row('claim + append that settles and enqueues', result.work, result.raw),
      row(`floor: ${groupSize} writes + fdatasync`, result.rawGrouped, result.rawGrouped),
      row(`append, ${groupSize} at a time`, result.grouped, result.rawGrouped),
    ],
  )
}

async function processes(dir: string, size: (typeof sizes)['full']): Promise<void> {
  const rows: (string | number)[][] = []
  let alone = 0
  for (const count of [1, 2, 4]) {
    const path = join(dir, `processes-${count}.db`)
    await (await openSqliteJournal({ path, views: [counting] })).close()
    const children = await Promise.all(Array.from({ length: count }, (_, n) => startWriter(path, `writer/${n}`, size.perProcess)))
    const ms = await timed(() => Promise.all(children.map((child) => child())))
    const perSecond = (count * size.perProcess * 1000) / ms
    alone ||= perSecond
    rows.push([`${count} process${count > 1 ? 'es' : ''}`, perSecond, ratio(perSecond, alone)])
  }
  printTable('Appends one by one from several processes, together', ['', 'per second', 'against one'], rows)
}

/** Starts a process that has the journal open; the returned function lets it write and waits for its end. */
function startWriter(path: string, stream: string, count: number): Promise<() => Promise<void>> {
  const child = fork(import.meta.filename, ['--child', `${path}\n${stream}`, '--count', String(count)])
  const ended = new Promise<void>((resolve, reject) =>
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`writer ended with ${code}`)))),
  )
  return new Promise((resolve) => {
    child.once('message', () => {
      resolve(() => {
        child.send('go')
        return ended
      })
    })
  })
}

async function write(path: string, stream: string, count: number): Promise<void> {
  const journal = await openSqliteJournal({ path, views: [counting] })
  const go = new Promise((resolve) => process.once('message', resolve))
  process.send?.('ready')
  await go
  for (let version = 0; version < count; version += 1) await appendOne(journal, stream, version)
  await journal.close()
  process.disconnect()
}

async function reopening(dir: string, size: (typeof sizes)['full']): Promise<void> {
  const path = join(dir, 'stored.db')
  const filled = await openSqliteJournal({ path, views: [counting] })
  for (let done = 0; done < size.stored; done += 1000) {
    const appends = Array.from({ length: 100 }, (_, n) => {
      const events = Array.from({ length: 10 }, (_, m) => event(m))
      return filled.append({ streams: [{ stream: `task/${done / 1000}/${n}`, expected: 0, events }], meta })
    })
    await Promise.all(appends)
  }
  await filled.close()
  const before = residentMegabytes()
  let journal = filled
  const opened = await timedWithCpu(async () => {
    journal = await openSqliteJournal({ path, views: [counting] })
  })
  let events = 0
  const verified = await timedWithCpu(async () => {
    const found = await journal.verify()
    if (found.breaks.length > 0) throw new Error(`the chain is broken: ${JSON.stringify(found.breaks[0])}`)
    events = found.events
  })
  const afterVerifying = residentMegabytes()
  const rebuilt = await timedWithCpu(() => journal.rebuildViews())
  await journal.close()
  const bytes = (statSync(path).size / events).toFixed(0)
  printTable(
    `Reopening ${events.toLocaleString('en')} events (${bytes} bytes each on disk)`,
    ['', 'ms', 'of which CPU'],
    [
      ['open', opened.ms, opened.cpuMs],
      ['verify all chains', verified.ms, verified.cpuMs],
      ['open + verify (goal for 100,000: 2,000)', opened.ms + verified.ms, opened.cpuMs + verified.cpuMs],
      ['rebuild a view', rebuilt.ms, rebuilt.cpuMs],
    ],
  )
  printTable(
    'Memory',
    ['', 'MB'],
    [
      ['resident before reopening', before],
      ['resident after verifying', afterVerifying],
      ['resident after rebuilding', residentMegabytes()],
    ],
  )
}

if (flags.child !== undefined) {
  const [path = '', stream = ''] = flags.child.split('\n')
  await write(path, stream, Number(flags.count))
} else {
  const size = sizes[flags.size === 'small' ? 'small' : 'full']
  const dir = mkdtempSync(join(flags.dir ?? tmpdir(), 'assay-bench-'))
  try {
    await durability(dir, size)
    await processes(dir, size)
    await reopening(dir, size)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
