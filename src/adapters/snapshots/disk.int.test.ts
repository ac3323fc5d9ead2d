import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { plant, planted, problemOf, taken, tempFolder } from '../../testing/snapshot-suite/trees.ts'
import { badObjects, outcomeOf, runTake, startTake } from './fixtures/run.ts'
import { openSnapshotStore } from './store.ts'

function newStore() {
  const folder = join(tempFolder(), 'objects')
  return { folder, store: openSnapshotStore({ folder }) }
}

function objectsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((fan) => fan !== 'tmp')
    .flatMap((fan) => readdirSync(join(folder, fan)).map((name) => join(folder, fan, name)))
}

/** What a process that takes has written and not yet named. */
function unfinishedBytes(folder: string): number {
  const tmp = join(folder, 'tmp')
  if (!existsSync(tmp)) return 0
  const sizes = readdirSync(tmp).map((name) => statSync(join(tmp, name), { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Distinct files, so that each is an object. */
function manyFiles(count: number, bytes: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n % 7}/${n}`, randomBytes(bytes)]))
}

describe('objects on disk', () => {
  it('are stored once per content and sealed when they are durable', async () => {
    const { folder, store } = newStore()
    const large = Buffer.alloc(400_000, 1)
    await taken(store, planted({ a: 'same', 'b/c': 'same', d: large, e: large }))
    const objects = objectsIn(folder)
    expect(objects).toHaveLength(3)
    expect(objects.filter((object) => (statSync(object).mode & 0o222) !== 0)).toEqual([])
    expect(readdirSync(join(folder, 'tmp'))).toEqual([])
    const before = objects.map((object) => statSync(object).mtimeMs)
    await taken(openSnapshotStore({ folder }), planted({ z: 'same', y: large }))
    expect(objects.map((object) => statSync(object).mtimeMs)).toEqual(before)
  })

  it('that another process has named but not sealed are sealed by the next take', async () => {
    const { folder, store } = newStore()
    const root = planted({ a: 'x' })
    await taken(store, root)
    for (const object of objectsIn(folder)) chmodSync(object, 0o600)
    await taken(openSnapshotStore({ folder }), root)
    expect(objectsIn(folder).map((object) => statSync(object).mode & 0o777)).toEqual([0o444, 0o444])
  })

  it('of a wrong size are written anew by the next take', async () => {
    const { folder, store } = newStore()
    const root = planted({ a: 'whole' })
    const { digest } = await taken(store, root)
    for (const object of objectsIn(folder)) {
      chmodSync(object, 0o644)
      truncateSync(object, 1)
    }
    const fresh = openSnapshotStore({ folder })
    await taken(fresh, root)
    expect(badObjects(folder)).toEqual({ count: 2, bad: [] })
    expect(Buffer.from((await fresh.read(digest, 'a')) ?? []).toString()).toBe('whole')
  })

  it('that are corrupt are never served, and the error names the object', async () => {
    for (const size of [100, 700_000]) {
      const { folder, store } = newStore()
      const { digest, files } = await taken(store, planted({ a: Buffer.alloc(size, 'a') }))
      const hex = files[0]!.digest.slice('sha256:'.length)
      const object = join(folder, hex.slice(0, 2), hex.slice(2))
      chmodSync(object, 0o644)
      const bytes = readFileSync(object)
      for (const damage of [
        Buffer.concat([bytes.subarray(1), Buffer.from('b')]),
        bytes.subarray(1),
        Buffer.concat([bytes, bytes]),
        Buffer.alloc(0),
      ]) {
        writeFileSync(object, damage)
        await expect(store.read(digest, 'a')).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining(hex) })
        await expect(store.getText(files[0]!.digest)).rejects.toMatchObject({ code: 'corrupt' })
        const target = join(tempFolder(), 'copy')
        expect(problemOf(await store.restore(digest, target)).message).toContain(`object sha256:${hex} is corrupt`)
        expect(existsSync(join(target, 'a'))).toBe(false)
      }
      writeFileSync(object, bytes)
      expect((await store.read(digest, 'a'))?.length).toBe(size)
    }
  })

  it('that hold a damaged manifest stop everything that needs it', async () => {
    const { folder, store } = newStore()
    const { digest } = await taken(store, planted({ a: 'x' }))
    const object = join(folder, digest.slice(7, 9), digest.slice(9))
    chmodSync(object, 0o644)
    writeFileSync(object, readFileSync(object, 'utf8').replace('"a"', '"b"'))
    await expect(store.manifest(digest)).rejects.toMatchObject({ code: 'corrupt' })
    await expect(store.read(digest, 'a')).rejects.toMatchObject({ code: 'corrupt' })
    expect(problemOf(await store.restore(digest, tempFolder())).message).toContain('is corrupt')
  })

  it('that are missing are reported with the file they belong to', async () => {
    const { folder, store } = newStore()
    const { digest } = await taken(store, planted({ a: 'x' }))
    const other = newStore()
    mkdirSync(join(other.folder, digest.slice(7, 9)), { recursive: true })
    writeFileSync(join(other.folder, digest.slice(7, 9), digest.slice(9)), readFileSync(join(folder, digest.slice(7, 9), digest.slice(9))))
    await expect(other.store.read(digest, 'a')).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('"a"') })
    expect(problemOf(await other.store.restore(digest, tempFolder())).code).toBe('not_found')
  })

  it('left unfinished by a dead process are swept when they are old', async () => {
    const { folder } = newStore()
    plant(join(folder, 'tmp'), { '1-old': 'half', '2-young': 'half' })
    utimesSync(join(folder, 'tmp/1-old'), 1, 1)
    await taken(openSnapshotStore({ folder }), planted({ a: 'x' }))
    expect(readdirSync(join(folder, 'tmp'))).toEqual(['2-young'])
  })
})

describe('a process that takes a snapshot', () => {
  it('may be killed at any moment: no half object is left, and the next take works', async () => {
    const root = planted(manyFiles(1500, 20_000))
    const { folder, store } = newStore()
    let kills = 0
    for (const until of [1, 1_000_000, 10_000_000, 25_000_000]) {
      const { child, ended } = startTake(folder, root)
      while (child.exitCode === null && unfinishedBytes(folder) < until) await delay(1)
      child.kill('SIGKILL')
      const { signal, output } = await ended
      if (signal === 'SIGKILL' && !output.includes('digest')) kills += 1
      if (existsSync(folder)) expect(badObjects(folder).bad).toEqual([])
      rmSync(join(folder, 'tmp'), { recursive: true, force: true })
    }
    expect(kills).toBeGreaterThan(0)
    const { digest } = await taken(store, root)
    expect(badObjects(folder)).toEqual({ count: 1501, bad: [] })
    const copy = join(tempFolder(), 'copy')
    expect(await store.restore(digest, copy)).toEqual({ ok: true })
    expect((await taken(store, copy)).digest).toBe(digest)
  })

  it('may take the same content at the same time as another one', async () => {
    const root = planted({ ...manyFiles(300, 10_000), big: randomBytes(3_000_000) })
    const { folder, store } = newStore()
    const outputs = await Promise.all([startTake(folder, root).ended, startTake(folder, root).ended])
    const digests = outputs.map(({ output }) => outcomeOf(output).digest)
    expect(digests[0]).toMatch(/^sha256:/)
    expect(digests[1]).toBe(digests[0])
    expect(badObjects(folder)).toEqual({ count: 302, bad: [] })
    expect(readdirSync(join(folder, 'tmp'))).toEqual([])
    expect((await taken(store, root)).digest).toBe(digests[0])
  })

  it('holds a piece of a large file in memory, never all of it', () => {
    const folder = join(tempFolder(), 'objects')
    const small = runTake(folder, planted({ small: 'x' }))
    const root = planted({ large: '' })
    truncateSync(join(root, 'large'), 300 * 1024 * 1024)
    const large = runTake(folder, root)
    expect(large.digest).toMatch(/^sha256:/)
    expect(large.peakKb - small.peakKb).toBeLessThan(100 * 1024)
  })
})
