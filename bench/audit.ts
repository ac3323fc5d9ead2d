/** What proving costs. Run: `npx node bench/audit.ts [--size small|full] [--dir folder]`. The floor is sha256 over the same bytes, read by the same SQLite. */
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { openSigner } from '../src/adapters/signing/key.ts'
import { openInventory } from '../src/adapters/snapshots/inventory.ts'
import { openSnapshotStore } from '../src/adapters/snapshots/store.ts'
import { openSqliteJournal } from '../src/adapters/sqlite/journal.ts'
import { makeCheckpoint } from '../src/engine/audit/checkpoint.ts'
import { verifyEverything } from '../src/engine/audit/verify.ts'
import { engineViews } from '../src/engine/views/tasks.ts'
import type { Journal } from '../src/ports/journal.ts'
import { printTable, ratio, timed } from './measure.ts'

const sizes = { small: { tasks: 200, rounds: 1 }, full: { tasks: 5000, rounds: 3 } }
const perTask = 20
const meta = { at: '2026-01-01T00:00:00.000Z', actor: 'bench' }
const { values: flags } = parseArgs({ options: { size: { type: 'string', default: 'full' }, dir: { type: 'string' } } })

/** Verdicts as they are, but for who gave them. */
function events(task: number) {
  const sitting = {
    seat: 1,
    judge: 'ada',
    principal: 'p',
    outcome: 'abstained',
    accepts: false,
    contradictsScores: false,
    resolutions: [],
    leansOnUnresolved: false,
  }
  const raw = `The second criterion is not met: hello.txt says hallo. Task ${task}. `.repeat(6)
  return Array.from({ length: perTask }, () => ({ type: 'verdict.recorded', v: 1, data: { review: 1, round: 1, sitting, raw } }))
}

async function fill(journal: Journal, tasks: number): Promise<void> {
  for (let start = 0; start < tasks; start += 100) {
    const appends = Array.from({ length: Math.min(100, tasks - start) }, (_, n) =>
      journal.append({ streams: [{ stream: `task/bench-1/${start + n}`, expected: 0, events: events(start + n) }], meta }),
    )
    await Promise.all(appends)
  }
}

function floor(path: string): void {
  const db = new DatabaseSync(path, { readOnly: true })
  for (const { body } of db.prepare('SELECT body FROM events ORDER BY position').iterate()) hash('sha256', body as string)
  db.close()
}

async function measure(dir: string, { tasks, rounds }: { tasks: number; rounds: number }): Promise<void> {
  const path = join(dir, 'assay.db')
  const journal = await openSqliteJournal({ path, views: engineViews })
  await fill(journal, tasks)
  const folder = join(dir, 'objects')
  const parts = { journal, snapshots: openSnapshotStore({ folder }), inventory: openInventory(folder) }
  const made = await makeCheckpoint(journal, openSigner(join(dir, 'keys')), Date)
  if (!made.ok) throw new Error(made.error)
  const count = made.value.checkpoint.events
  const best = {
    floor: Number.POSITIVE_INFINITY,
    chains: Number.POSITIVE_INFINITY,
    views: Number.POSITIVE_INFINITY,
    everything: Number.POSITIVE_INFINITY,
  }
  const note = (name: keyof typeof best, ms: number) => {
    best[name] = Math.min(best[name], ms)
  }
  for (let round = 0; round < rounds; round += 1) {
    note('floor', await timed(() => floor(path)))
    note('chains', await timed(() => journal.verify()))
    note('views', await timed(() => journal.compareViews()))
    note(
      'everything',
      await timed(async () => {
        const { breaks } = await verifyEverything(parts, made.value.checkpoint)
        if (breaks.length > 0) throw new Error(`broken: ${JSON.stringify(breaks[0])}`)
      }),
    )
  }
  await journal.close()
  const row = (name: string, ms: number) => [name, ms, (count * 1000) / ms, ratio(ms, best.floor)]
  printTable(
    `Proving ${count.toLocaleString('en')} events in ${made.value.checkpoint.streams.length.toLocaleString('en')} chains (best of ${rounds})`,
    ['', 'ms', 'events per second', 'against floor'],
    [
      row('floor: read every event, sha256 of its text', best.floor),
      row('every chain', best.chains),
      row('every view, folded anew', best.views),
      row('audit verify --checkpoint: chains, views, references, heads', best.everything),
    ],
  )
}

const dir = mkdtempSync(join(flags.dir ?? tmpdir(), 'assay-bench-'))
try {
  await measure(dir, sizes[flags.size === 'small' ? 'small' : 'full'])
} finally {
  rmSync(dir, { recursive: true, force: true })
}
