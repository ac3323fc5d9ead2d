import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, existsSync, openSync, utimesSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { contentsOf, planted, problemOf, taken, tempFolder } from '../../testing/snapshot-suite/trees.ts'
import { FolderChanged } from './fault.ts'
import { openEntry, readSmall } from './folder/file.ts'
import { type HeldFolder, type Holding, holdRoot } from './folder/held.ts'
import { openSnapshotStore } from './store.ts'

const linux = existsSync('/proc/self/fd')
const holdings: Holding[] = linux ? ['descriptor', 'path'] : ['path']

/** Starts the swapper; `stop` ends it and says how many rounds it made. */
async function swapping(folder: string, outside: string): Promise<{ stop: () => Promise<number> }> {
  const script = fileURLToPath(new URL('./fixtures/swap.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, folder, outside], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let output = ''
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => resolve())
  })
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk
      if (output.includes('running')) resolve()
    })
    child.on('close', () => resolve())
  })
  return {
    stop: async () => {
      child.stdin.end()
      await ended
      return Number(output.trim().split('\n').at(-1))
    },
  }
}

/** What one opening of `victim` in the given folder came to. */
function lookAt(folder: string, path: string, holding: Holding): string {
  const root = holdRoot(folder, holding)
  let held: HeldFolder | undefined
  try {
    held = root.hold(path)
    const opening = openEntry(held, { name: 'victim', path: 'victim', kind: 'file' })
    if (opening.kind !== 'open') return opening.kind
    const bytes = readSmall(opening.file)?.toString() ?? 'changed'
    closeSync(opening.file.fd)
    return bytes
  } catch (error) {
    if (error instanceof FolderChanged || (error instanceof Error && 'code' in error)) return 'changed'
    throw error
  } finally {
    held?.release()
    root.release()
  }
}

describe('a folder that changes under our hands', () => {
  it.each(holdings)('never lets a byte from outside in, held by %s', async (holding) => {
    const outside = planted({ victim: 'OUTSIDE' })
    const folder = tempFolder()
    const race = await swapping(folder, outside)
    const seen = new Map<string, number>()
    for (let n = 0; n < 20_000; n++) {
      const what = lookAt(folder, n % 2 === 0 ? '' : 'sub', holding)
      seen.set(what, (seen.get(what) ?? 0) + 1)
    }
    expect(await race.stop()).toBeGreaterThan(200)
    expect([...seen.keys()].filter((what) => !['inside', 'changed', 'refused', ''].includes(what))).toEqual([])
    expect(seen.get('inside')).toBeGreaterThan(0)
    expect(seen.get('changed')).toBeGreaterThan(0)
  })

  it.each(holdings)('is taken without a byte from outside or is said to have changed, held by %s', async (holding) => {
    const outside = planted({ victim: 'OUTSIDE' })
    const folder = tempFolder()
    const store = openSnapshotStore({ folder: join(tempFolder(), 'objects'), holding })
    const race = await swapping(folder, outside)
    for (let n = 0; n < 12; n++) {
      const answer = await store.take(folder)
      if (!answer.ok) expect(answer.problem.code).toBe('changed_while_reading')
      else
        for (const { path } of answer.manifest.files)
          expect(Buffer.from((await store.read(answer.manifest.digest, path)) ?? []).toString()).not.toBe('OUTSIDE')
    }
    expect(await race.stop()).toBeGreaterThan(200)
  })

  it.skipIf(!linux)('is restored without a byte written or removed outside', async () => {
    const outside = planted({ victim: 'OUTSIDE', 'deep/victim': 'OUTSIDE' })
    const before = contentsOf(outside)
    const folder = tempFolder()
    const store = openSnapshotStore({ folder: join(tempFolder(), 'objects') })
    const { digest } = await taken(store, planted({ victim: 'restored', 'sub/victim': 'restored', 'sub/deep/victim': 'restored' }))
    const race = await swapping(folder, outside)
    for (let n = 0; n < 300; n++) await store.restore(digest, folder)
    expect(await race.stop()).toBeGreaterThan(200)
    expect(contentsOf(outside)).toEqual(before)
    expect(await store.restore(digest, folder)).toEqual({ ok: true })
    expect(Object.keys(contentsOf(folder))).toEqual(['sub/deep/victim', 'sub/victim', 'victim'])
  })

  it.each([
    ['grows', (file: string) => appendFileSync(file, 'x')],
    ['is written over in place', (file: string) => overwrite(file)],
  ])('is reported when a file never holds still but %s, and taken once it does', async (_, write) => {
    const folder = planted({ log: Buffer.alloc(8_000_000), fine: 'x' })
    const store = openSnapshotStore({ folder: join(tempFolder(), 'objects') })
    let writes = 0
    const timer = setInterval(() => {
      write(join(folder, 'log'))
      writes += 1
    }, 0)
    onTestFinished(() => clearInterval(timer))
    const problem = problemOf(await store.take(folder))
    clearInterval(timer)
    expect(writes).toBeGreaterThan(3)
    expect(problem.code).toBe('changed_while_reading')
    expect(problem.message).toContain('"log"')
    expect((await taken(store, folder)).files.map((file) => file.path)).toEqual(['fine', 'log'])
  })

  it('is read again when an entry comes or goes meanwhile, and reported when that goes on', async () => {
    const folder = planted({ 'sub/a': 'a', 'sub/b': 'b' })
    // Some kernels count time in steps of milliseconds: a change right after the planting would look like part of it.
    utimesSync(join(folder, 'sub'), 1, 1)
    const store = openSnapshotStore({ folder: join(tempFolder(), 'objects') })
    let late = 0
    const once = (path: string) => {
      if (path === 'sub/a' && late++ === 0) writeFileSync(join(folder, 'sub/late'), 'late')
      return false
    }
    expect((await taken(store, folder, once)).files.map((file) => file.path)).toEqual(['sub/a', 'sub/b', 'sub/late'])
    expect(late).toBe(2)
    const always = (path: string) => {
      if (path === 'sub/a') writeFileSync(join(folder, `sub/late${late++}`), 'late')
      return false
    }
    expect(problemOf(await store.take(folder, always))).toMatchObject({
      code: 'changed_while_reading',
      message: expect.stringContaining('"sub"'),
    })
  })
})

/** Other bytes, the same size. */
function overwrite(file: string): void {
  const fd = openSync(file, 'r+')
  writeSync(fd, String(Math.random()), 0)
  closeSync(fd)
}
