import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { appended, lastValues, total } from '../../testing/journal-suite/samples.ts'
import { openSqliteJournal } from './journal.ts'

const timeout = 120_000
const inOwnNamespace = ['--map-root-user', '--mount', 'sh', '-c']
const canMount = spawnSync('unshare', [...inOwnNamespace, 'mount -t tmpfs -o size=64k tmpfs /mnt']).status === 0
if (!canMount) console.warn('skipped: read-only mounts need `unshare` (package util-linux) and permission for user namespaces')

/** Ends with 99 if the folder can be written after all: then the fault did not fire. */
const mounted = 'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"; if touch "$1/probe" 2>/dev/null; then exit 99; fi; shift; exec "$@"'

/** Looks at the journal of a folder that is mounted read-only; tells what it found as JSON. */
function lookedAt(folder: string): Record<string, unknown> {
  const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const script = `
    const { openSqliteJournal } = await import(${module('./journal.ts')})
    const { lastValues, total } = await import(${module('../../testing/journal-suite/samples.ts')})
    const told = (error) => ({ code: error.code, message: error.message })
    const open = (looking) => openSqliteJournal({ path: process.argv[1], views: [lastValues, total], looking })
    const refused = await open(false).then(() => 'opened', told)
    const journal = await open(true).catch(told)
    const found = journal.close === undefined ? { journal } : {
      verified: await journal.verify(),
      views: await journal.compareViews(),
      rows: (await journal.viewRows('last')).length,
      read: (await journal.readStream('s')).length,
      queued: await journal.queued(),
      append: await journal.append({ streams: [{ stream: 's', expected: 3, events: [] }], meta: { at: '', actor: 'x' }, enqueue: [
        { key: 'k', kind: 'dig', scope: '', priority: 1, payload: {} }] }).then(() => 'written', told),
    }
    await journal.close?.()
    console.log(JSON.stringify({ refused, ...found }))`
  const node = [process.execPath, '--input-type=module', '-e', script, join(folder, 'assay.db')]
  const { status, stdout, stderr } = spawnSync('unshare', [...inOwnNamespace, mounted, 'sh', folder, ...node], {
    encoding: 'utf8',
    timeout,
  })
  expect(status, stderr).toBe(0)
  return JSON.parse(stdout) as Record<string, unknown>
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-looking-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A journal of three events, closed; or with its log, as a killed process leaves it. */
async function written(left: 'closed' | 'with its log'): Promise<string> {
  const [home, copy] = [newFolder(), newFolder()]
  const journal = await openSqliteJournal({ path: join(home, 'assay.db'), views: [lastValues, total] })
  await appended(journal, 's', 0, 1, 2, 3)
  for (const file of readdirSync(home)) cpSync(join(home, file), join(copy, file))
  await journal.close()
  return left === 'closed' ? home : copy
}

describe.skipIf(!canMount)('a journal that cannot be written', () => {
  it.each(['closed', 'with its log'] as const)('can be looked at, %s, and says what it refuses', { timeout }, async (left) => {
    const found = lookedAt(await written(left))
    expect(found).toMatchObject({
      refused: { code: 'read_only' },
      verified: { events: 3, streams: 1, breaks: [] },
      views: [],
      read: 3,
      queued: [],
      append: { code: 'read_only', message: expect.stringContaining('cannot be written') as string },
    })
  })

  it('is refused where events are missing, too', { timeout }, async () => {
    const home = await written('with its log')
    rmSync(join(home, 'assay.db-wal'))
    rmSync(join(home, 'assay.db-shm'))
    expect(lookedAt(home)).toMatchObject({
      journal: { code: 'corrupt', message: expect.stringContaining('3 events were acknowledged') as string },
    })
  })
})

it('a journal that can be written is opened as always by who only looks', async () => {
  const home = await written('closed')
  const journal = await openSqliteJournal({ path: join(home, 'assay.db'), views: [lastValues, total], looking: true })
  expect(await appended(journal, 's', 3, 4)).toHaveLength(1)
  await journal.close()
})
