/** A process that does one task with a journal and prints one JSON line for everything that it learns. Started by `startChild`. */
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { type Journal, JournalFault } from '../../../ports/journal.ts'
import { type JournalAdapter, journalAdapters } from '../adapters.ts'
import { appended, happened, lastValues, meta, total } from '../samples.ts'

const [adapterName = '', place = '', task = '', argument = '{}'] = process.argv.slice(2)
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

/** Writing to a pipe is synchronous: a line that was said survives a kill. */
function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function told(): Promise<void> {
  await input.next()
}

function opened(): Promise<Journal> {
  const adapter = (journalAdapters as Record<string, JournalAdapter>)[adapterName]
  if (adapter === undefined) throw new Error(`no adapter is called ${adapterName}`)
  return adapter.open(place, { views: [lastValues, total] })
}

const tasks: Record<string, (options: Record<string, unknown>) => Promise<void>> = {
  /** Appends to a stream of its own and to a shared one, in turns; says what was acknowledged. */
  async write({ writer, count }) {
    const journal = await opened()
    say({ ready: true })
    await told()
    const own = `own/${writer}`
    for (let n = 0; n < Number(count); n += 1) {
      const target = n % 2 === 0 ? own : 'shared'
      for (;;) {
        const result = await journal.append({
          streams: [{ stream: target, expected: await journal.head(target), events: [happened([writer, n])] }],
          meta,
        })
        if (!result.ok) continue
        say({ n, position: result.events[0]?.position, hash: result.events[0]?.hash })
        break
      }
    }
    await journal.close()
  },

  /** Takes work until there is none. */
  async claim({ owner }) {
    const journal = await opened()
    say({ ready: true })
    await told()
    for (;;) {
      const leases = await journal.claim({ owner: String(owner), limit: 2, leaseMs: 600_000 })
      if (leases.length === 0) break
      for (const { key, fence } of leases) say({ key, fence })
    }
    await journal.close()
  },

  /** Takes one piece of work and settles it when told to, however long that took. */
  async hold({ leaseMs }) {
    const journal = await opened()
    const [lease] = await journal.claim({ owner: 'holder', limit: 1, leaseMs: Number(leaseMs) })
    say({ lease })
    await told()
    const { key, owner, fence } = lease ?? { key: '', owner: '', fence: 0 }
    const result = await journal.append({
      streams: [{ stream: 'outcome', expected: 0, events: [happened('stale')] }],
      settles: { key, owner, fence },
      meta,
    })
    say({ result, beat: lease !== undefined && (await journal.beat(lease, 1000)) })
    await journal.close()
  },

  /** Appends until the store fails; makes room when told to, goes on for a while, and says what a fresh look at the journal finds. */
  async fill({ bytes, ballast }) {
    let journal = await opened()
    let version = 0
    const append = async () => {
      await appended(journal, 'fill', version, 'x'.repeat(Number(bytes)))
      version += 1
      say({ version })
    }
    try {
      for (;;) await append()
    } catch (error) {
      if (!(error instanceof JournalFault)) throw error
      say({ fault: error.code, message: error.message })
    }
    await told()
    if (ballast !== undefined) rmSync(String(ballast))
    for (let n = 0; n < 20; n += 1) await append()
    await journal.close()
    journal = await opened()
    say({ verified: await journal.verify(), rebuilt: await journal.rebuildViews(), head: await journal.head('fill') })
    await journal.close()
  },

  /** Appends a few times, one by one or together; after a fault it says what every further use comes to. */
  async append({ count, together }) {
    const journal = await opened()
    const start = await journal.head('s')
    const append = async (n: number) =>
      say({ acknowledged: (await appended(journal, together ? `s/${n}` : 's', together ? 0 : start + n, n)).map(({ hash }) => hash)[0] })
    try {
      if (together) await Promise.all(Array.from({ length: Number(count) }, (_, n) => append(n)))
      else for (let n = 0; n < Number(count); n += 1) await append(n)
    } catch (error) {
      if (!(error instanceof JournalFault)) throw error
      const uses = [
        appended(journal, 'other', 0, 1),
        journal.readStream('s'),
        journal.claim({ owner: 'o', limit: 1, leaseMs: 1 }),
        journal.verify(),
      ]
      const after = (await Promise.allSettled(uses)).map((use) =>
        use.status === 'rejected' && use.reason instanceof JournalFault ? use.reason.code : use.status,
      )
      say({ fault: error.code, after })
    }
    await journal.close()
  },

  async open() {
    const journal = await opened()
    say({ opened: true })
    await journal.close()
  },

  async waitForNews() {
    const journal = await opened()
    const waiting = journal.waitForNews(0, 600_000)
    say({ ready: true })
    await waiting
    say({ woken: true })
    await journal.close()
  },
}

try {
  const chosen = tasks[task]
  if (chosen === undefined) throw new Error(`no task is called ${task}`)
  await chosen(JSON.parse(argument))
} catch (error) {
  if (!(error instanceof JournalFault)) throw error
  say({ refused: error.code, message: error.message })
}
process.stdin.destroy()
