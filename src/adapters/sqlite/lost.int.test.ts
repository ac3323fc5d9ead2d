import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { appended, lastValues, total } from '../../testing/journal-suite/samples.ts'
import { backUpJournal } from './backup.ts'
import { openSqliteJournal } from './journal.ts'

const views = [lastValues, total]
const opened = (folder: string) => openSqliteJournal({ path: join(folder, 'assay.db'), views })

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-lost-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What a killed process leaves: events that were acknowledged, the later ones in the write-ahead log alone. */
async function killed(events = 12): Promise<string> {
  const [home, left] = [newFolder(), newFolder()]
  const journal = await opened(home)
  for (let n = 0; n < events; n += 1) await appended(journal, 's', n, `${n} ${'x'.repeat(300)}`)
  for (const file of readdirSync(home)) if (!file.endsWith('-shm')) cpSync(join(home, file), join(left, file))
  await journal.close()
  expect(statSync(join(left, 'assay.db-wal')).size).toBeGreaterThan(10_000)
  return left
}

async function closed(events = 3, value = 'x'): Promise<string> {
  const home = newFolder()
  const journal = await opened(home)
  for (let n = 0; n < events; n += 1) await appended(journal, 's', n, `${n} ${value}`)
  await journal.close()
  return home
}

function flipBit(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

const bytesIn = (home: string) =>
  Object.fromEntries(
    readdirSync(home)
      // Looking into a journal makes an empty log; nothing of it is lost by that.
      .filter((file) => !file.endsWith('-shm') && !(file.endsWith('-wal') && statSync(join(home, file)).size === 0))
      .map((file) => [file, readFileSync(join(home, file)).toString('base64')]),
  )

const damages: [string, (home: string) => void][] = [
  ['a flipped bit in the middle of the log', (home) => flipBit(join(home, 'assay.db-wal'), 9_000)],
  ['a flipped bit in the head of the log', (home) => flipBit(join(home, 'assay.db-wal'), 17)],
  ['a log that is cut', (home) => truncateSync(join(home, 'assay.db-wal'), statSync(join(home, 'assay.db-wal')).size - 100)],
  ['an empty log', (home) => truncateSync(join(home, 'assay.db-wal'), 0)],
  ['a deleted log', (home) => rmSync(join(home, 'assay.db-wal'))],
  [
    'a journal of no bytes',
    (home) => {
      rmSync(join(home, 'assay.db-wal'))
      truncateSync(join(home, 'assay.db'), 0)
    },
  ],
  [
    'a deleted journal',
    (home) => {
      rmSync(join(home, 'assay.db-wal'))
      rmSync(join(home, 'assay.db'))
    },
  ],
]

describe('acknowledged events that are gone', () => {
  it.each(damages)('%s: refused, and left as it was', async (_what, damage) => {
    const home = await killed()
    damage(home)
    const before = bytesIn(home)
    await expect(opened(home)).rejects.toMatchObject({ name: 'JournalFault', code: 'corrupt' })
    await expect(opened(home)).rejects.toThrow(/12 events were acknowledged.*backup.*assay\.head/s)
    expect(bytesIn(home)).toEqual(before)
  })

  it('are not copied into a backup as if nothing was missing', async () => {
    const home = await killed()
    flipBit(join(home, 'assay.db-wal'), 9_000)
    const before = bytesIn(home)
    const to = join(newFolder(), 'copy.db')
    await expect(backUpJournal(join(home, 'assay.db'), to)).rejects.toThrow(/were acknowledged/)
    expect(existsSync(to)).toBe(false)
    expect(bytesIn(home)).toEqual(before)
  })

  it('are given up where the owner removes the record of them', async () => {
    const home = await killed()
    rmSync(join(home, 'assay.db-wal'))
    rmSync(join(home, 'assay.head'))
    const journal = await opened(home)
    expect(await journal.position()).toBeLessThan(12)
    await journal.close()
  })

  it('an older copy in the place of a journal is one', async () => {
    const home = await closed(3)
    const older = readFileSync(join(home, 'assay.db'))
    const journal = await opened(home)
    await appended(journal, 's', 3, 'one more')
    await journal.close()
    writeFileSync(join(home, 'assay.db'), older)
    await expect(opened(home)).rejects.toThrow(/4 events were acknowledged/)
  })
})

describe('the record of what was acknowledged', () => {
  it('agrees with what a killed process left', async () => {
    const journal = await opened(await killed())
    expect(await journal.position()).toBe(12)
    await journal.close()
  })

  it('may be behind: the process was killed after the commit', async () => {
    const home = await closed(3)
    const before = readFileSync(join(home, 'assay.head'))
    const journal = await opened(home)
    await appended(journal, 's', 3, 'one more')
    await journal.close()
    expect(readFileSync(join(home, 'assay.head')).equals(before)).toBe(false)
    writeFileSync(join(home, 'assay.head'), before)
    const again = await opened(home)
    expect(await again.position()).toBe(4)
    await appended(again, 's', 4, 'and on')
    await again.close()
    expect(readFileSync(join(home, 'assay.head'), 'utf8')).toMatch(/^0{15}5 [0-9a-f]{64}\n$/)
  })

  it('never goes back, whichever of two processes writes it last', async () => {
    const home = newFolder()
    const [a, b] = [await opened(home), await opened(home)]
    await Promise.all([
      (async () => {
        for (let n = 0; n < 30; n += 1) await appended(a, 'a', n, n)
      })(),
      (async () => {
        for (let n = 0; n < 30; n += 1) await appended(b, 'b', n, n)
      })(),
    ])
    expect(readFileSync(join(home, 'assay.head'), 'utf8')).toMatch(/^0{14}60 /)
    await a.close()
    await b.close()
  })

  it.each([
    ['missing', (file: string) => rmSync(file)],
    ['empty: the power failed before it was written', (file: string) => truncateSync(file, 0)],
    ['of no bytes yet: the power failed before they were on the disk', (file: string) => writeFileSync(file, Buffer.alloc(82))],
    ['cut in its first writing', (file: string) => truncateSync(file, 40)],
  ])('is made anew where it is %s', async (_what, damage) => {
    const home = await closed(3)
    damage(join(home, 'assay.head'))
    const journal = await opened(home)
    await journal.close()
    expect(readFileSync(join(home, 'assay.head'), 'utf8')).toMatch(/^0{15}3 /)
  })

  it('is refused where something else is in it', async () => {
    const home = await closed(3)
    writeFileSync(join(home, 'assay.head'), 'Dear diary, '.repeat(20))
    await expect(opened(home)).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining('assay.head') as string })
  })

  it('tells another journal that was put in its place', async () => {
    const [home, other] = [await closed(3, 'mine'), await closed(3, 'yours')]
    cpSync(join(other, 'assay.db'), join(home, 'assay.db'))
    await expect(opened(home)).rejects.toThrow(/is not the journal/)
  })

  it('does not stand in the way of a new journal, nor of one whose own record is missing', async () => {
    const home = newFolder()
    const journal = await opened(home)
    await journal.close()
    expect(readdirSync(home)).toEqual(['assay.db'])
    const written = await closed(3)
    const db = new DatabaseSync(join(written, 'assay.db'))
    db.exec('DELETE FROM journal')
    db.close()
    await expect(opened(written)).rejects.toThrow(/record of where it ends is missing/)
  })
})
