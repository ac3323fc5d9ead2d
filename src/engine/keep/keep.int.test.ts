import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSigner } from '../../adapters/signing/key.ts'
import { openInventory } from '../../adapters/snapshots/inventory.ts'
import { openSnapshotStore } from '../../adapters/snapshots/store.ts'
import { backUpJournal } from '../../adapters/sqlite/backup.ts'
import { openSqliteJournal } from '../../adapters/sqlite/journal.ts'
import type { Checkpoint } from '../../contract/attest/checkpoint.ts'
import { makeHome } from '../../testing/tamper/home.ts'
import { auditHome } from '../../testing/tamper/trial.ts'
import { makeCheckpoint } from '../audit/checkpoint.ts'
import { engineViews } from '../views/tasks.ts'
import { backUp, type CopyTools, restoreBackup } from './backup.ts'
import { clearAway } from './gc.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-keep-'))
const original = join(folder, 'original')
const hour = 3_600_000
const meta = { at: '2026-11-16T05:00:00.000Z', actor: 'runtime' }

const objects = (home: string) => ({
  snapshots: openSnapshotStore({ folder: join(home, 'objects') }),
  inventory: openInventory(join(home, 'objects')),
})
const tools: CopyTools = {
  copyJournal: async (from, to) => {
    mkdirSync(to, { recursive: true })
    await backUpJournal(join(from, 'assay.db'), join(to, 'assay.db'))
  },
  objects,
  open: async (home) => {
    const journal = await openSqliteJournal({ path: join(home, 'assay.db'), views: engineViews })
    return { journal, ...objects(home), close: () => journal.close() }
  },
}

beforeAll(async () => {
  mkdirSync(original)
  await makeHome(original)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function copied(name: string): string {
  cpSync(original, join(folder, name), { recursive: true })
  return join(folder, name)
}

const count = async (home: string) => {
  let found = 0
  for await (const _ of openInventory(join(home, 'objects')).list()) found += 1
  return found
}

/** As if nobody had used any object for this long. */
function age(home: string, ms: number): void {
  const then = (Date.now() - ms) / 1000
  for (const fan of readdirSync(join(home, 'objects')))
    for (const name of readdirSync(join(home, 'objects', fan))) utimesSync(join(home, 'objects', fan, name), then, then)
}

async function cleared(home: string, more: { dryRun?: boolean; records?: string[]; graceMs?: number } = {}) {
  const opened = await tools.open(home)
  try {
    const { dryRun = false, records = [], graceMs = 24 * hour } = more
    return await clearAway(opened, { graceMs, dryRun, further: () => records, clock: Date })
  } finally {
    await opened.close()
  }
}

describe('clearing away', () => {
  it('takes what nothing refers to and is old, and leaves everything else', async () => {
    const home = copied('gc')
    const before = await count(home)
    const { snapshots } = objects(home)
    await snapshots.putText('nobody speaks of this')
    const named = await snapshots.putText('a record speaks of this')
    age(home, 48 * hour)
    await snapshots.putText('nobody speaks of this yet')
    const records = [`{"base":"${named}"}`]
    expect(await cleared(home, { dryRun: true, records })).toMatchObject({ objects: before + 3, removed: 1, removedBytes: 21, young: 1 })
    expect(await count(home)).toBe(before + 3)
    expect(await cleared(home, { records })).toMatchObject({ removed: 1, young: 1 })
    expect(await count(home)).toBe(before + 2)
    expect(await cleared(home, { records })).toMatchObject({ removed: 0 })
    expect((await auditHome(home)).breaks).toEqual([])
  })

  it('never takes what is younger than two hours, whatever grace is asked for', async () => {
    const home = copied('gc-young')
    await objects(home).snapshots.putText('nobody speaks of this')
    age(home, hour)
    expect(await cleared(home, { graceMs: 1 })).toMatchObject({ removed: 0, young: 1 })
  })

  it('follows a plan to its pieces and a conversation to its beginning', async () => {
    const home = copied('gc-pieces')
    const { snapshots } = objects(home)
    const first = await snapshots.putText('{"before":null,"said":["one"]}')
    const second = await snapshots.putText(`{"before":"${first}","said":["two"]}`)
    const opened = await tools.open(home)
    const data = { attempt: 1, call: 1, tool: 'write', conversation: { stored: second, said: [] } }
    await opened.journal.append({ streams: [{ stream: 'talk', expected: 0, events: [{ type: 'call.begun', v: 1, data }] }], meta })
    await opened.close()
    age(home, 48 * hour)
    expect(await cleared(home)).toMatchObject({ removed: 0 })
  })

  it('takes nothing where the journal cannot be read to its end', async () => {
    const home = copied('gc-damaged')
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(join(home, 'assay.db'))
    db.exec("UPDATE events SET body = replace(body, 'meta', 'mera') WHERE position = 40")
    db.close()
    age(home, 48 * hour)
    const before = await count(home)
    await expect(cleared(home)).rejects.toThrow('cannot be read to its end')
    expect(await count(home)).toBe(before)
  })
})

async function checkpointOf(home: string): Promise<Checkpoint> {
  const opened = await tools.open(home)
  const made = await makeCheckpoint(opened.journal, openSigner(join(folder, 'keys')), Date)
  await opened.close()
  if (!made.ok) throw new Error(made.error)
  return made.value.checkpoint
}

describe('a backup', () => {
  it('is whole while others write, and restores to what was there', async () => {
    const home = copied('busy')
    const opened = await tools.open(home)
    let stop = false
    let written = 0
    const writing = (async () => {
      while (!stop) {
        const events = [{ type: 'clock.jumped', v: 1, data: { byMs: written, process: 'p' } }]
        await opened.journal.append({ streams: [{ stream: 'writer', expected: written, events }], meta })
        written += 1
      }
    })()
    const to = join(folder, 'backup')
    const made = await backUp(tools, home, to).finally(async () => {
      stop = true
      await writing
      await opened.close()
    })
    expect(written).toBeGreaterThan(0)
    expect(made).toMatchObject({ ok: true, value: { folder: to } })
    expect((await auditHome(to)).breaks).toEqual([])
    const restored = await restoreBackup(tools, to, join(folder, 'restored'), { checkpoint: undefined, acceptRollback: false })
    expect(restored).toMatchObject({ ok: true, value: { report: { breaks: [] } } })
    expect(await count(join(folder, 'restored'))).toBe(await count(original))
    expect(readdirSync(folder).filter((name) => name.startsWith('.assay-draft'))).toEqual([])
  })

  it('overwrites nothing, and nothing is restored over what is there', async () => {
    const home = copied('there')
    expect(await backUp(tools, home, original)).toMatchObject({ ok: false, error: expect.stringContaining('exists already') })
    expect(await restoreBackup(tools, original, home, { checkpoint: undefined, acceptRollback: false })).toMatchObject({
      ok: false,
      error: expect.stringContaining('exists already'),
    })
  })

  it('that is older than a checkpoint is refused, loudly, until it is accepted', async () => {
    const older = await backUp(tools, copied('older'), join(folder, 'old-backup'))
    expect(older.ok).toBe(true)
    const opened = await tools.open(join(folder, 'older'))
    const events = [{ type: 'clock.jumped', v: 1, data: { byMs: 1, process: 'p' } }]
    await opened.journal.append({ streams: [{ stream: 'writer', expected: 0, events }], meta })
    await opened.close()
    const checkpoint = await checkpointOf(join(folder, 'older'))
    const place = join(folder, 'rolled-back')
    const refused = await restoreBackup(tools, join(folder, 'old-backup'), place, { checkpoint, acceptRollback: false })
    expect(refused).toMatchObject({ ok: false, error: { rollback: true, breaks: [{ problem: expect.stringContaining('ROLLBACK') }, {}] } })
    expect(existsSync(place)).toBe(false)
    const accepted = await restoreBackup(tools, join(folder, 'old-backup'), place, { checkpoint, acceptRollback: true })
    expect(accepted).toMatchObject({ ok: true, value: { report: { rollback: true } } })
    expect(existsSync(join(place, 'assay.db'))).toBe(true)
  })

  it('that is damaged is refused, rollback accepted or not', async () => {
    const backup = copied('damaged-backup')
    const checkpoint = await checkpointOf(original)
    const objectsFolder = join(backup, 'objects')
    const fan = readdirSync(objectsFolder).find((name) => name !== 'tmp') ?? ''
    rmSync(join(objectsFolder, fan), { recursive: true })
    const refused = await restoreBackup(tools, backup, join(folder, 'never'), { checkpoint, acceptRollback: true })
    expect(refused).toMatchObject({ ok: false, error: { breaks: [{ problem: expect.stringContaining('not in the store') }] } })
    expect(existsSync(join(folder, 'never'))).toBe(false)
  })
})
