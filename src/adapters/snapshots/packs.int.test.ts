import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsOf, expectedContents, planted, type Tree, taken, tempFolder } from '../../testing/snapshot-suite/trees.ts'
import { badObjects } from './fixtures/run.ts'
import { readPackIndex } from './objects/pack.ts'
import { openInventory } from './inventory.ts'
import { openSnapshotStore } from './store.ts'

function newStore() {
  const folder = join(tempFolder(), 'objects')
  return { folder, reopen: () => openSnapshotStore({ folder }), store: openSnapshotStore({ folder }) }
}

/** More different small files than are stored one by one, an empty one among them. */
function many(count = 100): Tree {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n % 7}/${n}`, randomBytes(n * 10)]))
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const packsIn = (folder: string) => readdirSync(join(folder, 'packs')).map((name) => join(folder, 'packs', name))
const onlyPack = (folder: string): string => packsIn(folder)[0] ?? 'none'
const filesIn = (folder: string) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

describe('many small objects of one take', () => {
  it('are stored in one file, sealed, that another process reads', async () => {
    const { folder, store, reopen } = newStore()
    const tree = many()
    const { digest } = await taken(store, planted(tree))
    expect(filesIn(folder)).toHaveLength(2)
    expect(statSync(onlyPack(folder)).mode & 0o777).toBe(0o444)
    expect(badObjects(folder)).toEqual({ count: 101, bad: [] })
    const copy = join(tempFolder(), 'copy')
    expect(await reopen().restore(digest, copy)).toEqual({ ok: true })
    expect(contentsOf(copy)).toEqual(expectedContents(tree))
    expect(Buffer.from((await store.read(digest, 'f1/99')) ?? [])).toEqual(Buffer.from(tree['f1/99'] as Uint8Array))
  })

  it('are stored once: whoever has them already, in packs or alone, adds only what is new', async () => {
    const { folder, store, reopen } = newStore()
    const first = many(20)
    await taken(store, planted(first))
    expect(filesIn(folder)).toHaveLength(21)
    const second = { ...first, ...many(120) }
    await taken(store, planted(second))
    const before = filesIn(folder).length
    expect(readPackIndex(onlyPack(folder))?.count).toBe(119)
    const other = reopen()
    await taken(other, planted({ ...second, 'one/more': 'new' }))
    expect(filesIn(folder)).toHaveLength(before + 2)
    expect(packsIn(folder)).toHaveLength(1)
  })

  it('are right although several folders are taken at the same time', async () => {
    const { folder, store } = newStore()
    const trees = Array.from({ length: 6 }, (_, n) => many(10 + n * 20))
    const manifests = await Promise.all(trees.map((tree) => taken(store, planted(tree))))
    expect(badObjects(folder).bad).toEqual([])
    for (const [n, { digest }] of manifests.entries()) {
      const copy = join(tempFolder(), 'copy')
      expect(await store.restore(digest, copy)).toEqual({ ok: true })
      expect(contentsOf(copy)).toEqual(expectedContents(trees[n] ?? {}))
    }
  })

  it('are found by a store that was open before another one packed them', async () => {
    const { store, reopen } = newStore()
    await taken(store, planted({ a: 'x' }))
    const { digest } = await taken(reopen(), planted(many()))
    expect(await store.read(digest, 'f1/1')).toHaveLength(10)
  })

  it('are never served where a byte of them is wrong', async () => {
    const { folder, store, reopen } = newStore()
    const { digest, files } = await taken(store, planted(many()))
    const pack = onlyPack(folder)
    const wanted = files.find(({ path }) => path === 'f1/99')
    const hex = wanted?.digest.slice('sha256:'.length) ?? ''
    const at = readPackIndex(pack)?.find(hex)?.offset ?? -1
    const bytes = readFileSync(pack)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    chmodSync(pack, 0o644)
    writeFileSync(pack, bytes)
    await expect(reopen().read(digest, 'f1/99')).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining(hex) })
    expect(await reopen().read(digest, 'f1/92')).toHaveLength(920)
  })

  it.each([
    ['cut', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['emptied', () => Buffer.alloc(0)],
    ['with another beginning', (bytes: Buffer) => Buffer.concat([Buffer.from('X'), bytes.subarray(1)])],
    ['with a wrong index', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -50), Buffer.alloc(8, 7), bytes.subarray(-42)])],
  ])('in a pack that is %s are missing, not wrong, and the next take stores them again', async (_how, damage) => {
    const { folder, store, reopen } = newStore()
    const root = planted(many())
    const { digest } = await taken(store, root)
    const pack = onlyPack(folder)
    chmodSync(pack, 0o644)
    writeFileSync(pack, damage(readFileSync(pack)))
    const later = reopen()
    await expect(later.read(digest, 'f1/99')).rejects.toMatchObject({ code: 'not_found' })
    expect((await taken(later, root)).digest).toBe(digest)
    expect(await reopen().read(digest, 'f1/99')).toHaveLength(990)
  })

  it('in a pack that another process has named but not sealed are sealed by the next take', async () => {
    const { folder, store, reopen } = newStore()
    const root = planted(many())
    await taken(store, root)
    chmodSync(onlyPack(folder), 0o600)
    await taken(reopen(), root)
    expect(statSync(onlyPack(folder)).mode & 0o777).toBe(0o444)
    expect(packsIn(folder)).toHaveLength(1)
  })
})

describe('the inventory of a store with packs', () => {
  it('lists and proves what is in them, and names a damaged one', async () => {
    const { folder, store } = newStore()
    const { files } = await taken(store, planted(many()))
    const inventory = openInventory(folder)
    const listed = await all(inventory.list())
    expect(listed.map(({ digest }) => digest)).toEqual(expect.arrayContaining(files.map(({ digest }) => digest)))
    expect(listed).toHaveLength(101)
    expect(await inventory.problem(files[5]?.digest ?? 'sha256:')).toBeUndefined()
    const pack = onlyPack(folder)
    chmodSync(pack, 0o644)
    writeFileSync(pack, readFileSync(pack).subarray(1))
    const strays: string[] = []
    expect(await all(openInventory(folder).list((place) => strays.push(place)))).toHaveLength(1)
    expect(strays).toEqual([`packs/${basename(pack)}`])
  })

  it('clears a pack away with its objects, and not one that was relied on since', async () => {
    const { folder, store } = newStore()
    const { files } = await taken(store, planted(many()))
    const digests = new Set(files.map(({ digest }) => digest))
    expect(await openInventory(folder).clear(digests, Date.now() - 60_000, false)).toMatchObject({ removed: 0 })
    expect(packsIn(folder)).toHaveLength(1)
    expect(await openInventory(folder).clear(digests, Date.now() + 60_000, false)).toMatchObject({ removed: digests.size })
    expect(packsIn(folder)).toEqual([])
  })
})
