import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Digest } from '../../contract/canonical.ts'
import { planted, taken, tempFolder } from '../../testing/snapshot-suite/trees.ts'
import { openInventory } from './inventory.ts'
import { openSnapshotStore } from './store.ts'

const hour = 3_600_000

async function filled() {
  const folder = join(tempFolder(), 'objects')
  const store = openSnapshotStore({ folder })
  const manifest = await taken(store, planted({ a: 'alpha', 'b/c': 'beta', empty: '', large: Buffer.alloc(700_000, 7) }))
  return { folder, store, manifest, inventory: openInventory(folder) }
}

async function listed(inventory: ReturnType<typeof openInventory>) {
  const strays: string[] = []
  const objects = []
  for await (const object of inventory.list((place) => strays.push(place))) objects.push(object)
  return { objects, strays }
}

const placeOf = (folder: string, digest: Digest) => join(folder, digest.slice(7, 9), digest.slice(9))

/** As if nobody had used it for so long. */
function age(folder: string, digest: Digest, ms: number): void {
  const then = (Date.now() - ms) / 1000
  utimesSync(placeOf(folder, digest), then, then)
}

describe('the inventory of a store', () => {
  it('lists every object with its size, and what is none', async () => {
    const { folder, manifest, inventory } = await filled()
    writeFileSync(join(folder, 'note.txt'), 'x')
    const { objects, strays } = await listed(inventory)
    expect(objects.map(({ digest }) => digest).sort()).toEqual([manifest.digest, ...manifest.files.map(({ digest }) => digest)].sort())
    expect(objects.find(({ digest }) => digest === manifest.files[3]?.digest)?.bytes).toBe(700_000)
    expect(strays).toEqual(['note.txt'])
    expect(await listed(openInventory(join(folder, 'nowhere')))).toEqual({ objects: [], strays: [] })
  })

  it('proves bytes against names', async () => {
    const { folder, manifest, inventory } = await filled()
    const [file] = manifest.files
    if (!file) throw new Error('no file')
    expect(await inventory.problem(file.digest)).toBeUndefined()
    chmodSync(placeOf(folder, file.digest), 0o644)
    writeFileSync(placeOf(folder, file.digest), 'alphb')
    expect(await inventory.problem(file.digest)).toContain('corrupt')
    expect(await inventory.problem(`sha256:${'0'.repeat(64)}`)).toContain('not in the store')
  })

  it('copies objects, empty and large ones too, and says which are not there', async () => {
    const { manifest, inventory } = await filled()
    const to = join(tempFolder(), 'objects')
    const nowhere: Digest = `sha256:${'1'.repeat(64)}`
    const wanted = [manifest.digest, ...manifest.files.map(({ digest }) => digest), nowhere]
    expect(await inventory.copy(wanted, to)).toEqual([nowhere])
    const copy = openInventory(to)
    for (const digest of wanted.slice(0, -1)) expect(await copy.problem(digest)).toBeUndefined()
    expect(readdirSync(join(to, 'tmp'))).toEqual([])
    expect((await openSnapshotStore({ folder: to }).manifest(manifest.digest))?.files).toEqual(manifest.files)
  })
})

const remove = async (inventory: ReturnType<typeof openInventory>, digest: Digest, since: number) =>
  (await inventory.clear(new Set([digest]), since, false)).removed === 1

describe('clearing an object away', () => {
  it('takes only what nobody has used since', async () => {
    const { folder, manifest, inventory } = await filled()
    const [young, old] = manifest.files.map(({ digest }) => digest)
    if (!young || !old) throw new Error('no files')
    age(folder, old, 48 * hour)
    const since = Date.now() - 24 * hour
    expect(await remove(inventory, young, since)).toBe(false)
    expect(await inventory.clear(new Set([young, old]), since, true)).toEqual({ removed: 1, bytes: 4 })
    expect(await remove(inventory, old, since)).toBe(true)
    expect(await remove(inventory, old, since)).toBe(false)
    expect(existsSync(placeOf(folder, young))).toBe(true)
    expect(existsSync(placeOf(folder, old))).toBe(false)
    expect(readdirSync(join(folder, 'tmp'))).toEqual([])
  })

  it('leaves what a take has relied on meanwhile, although its bytes were there before', async () => {
    const { folder, store, manifest, inventory } = await filled()
    for (const { digest } of manifest.files) age(folder, digest, 48 * hour)
    age(folder, manifest.digest, 48 * hour)
    await taken(store, planted({ a: 'alpha', 'b/c': 'beta', empty: '', large: Buffer.alloc(700_000, 7) }))
    const since = Date.now() - 24 * hour
    for (const digest of [manifest.digest, ...manifest.files.map((file) => file.digest)]) {
      expect(await remove(inventory, digest, since)).toBe(false)
      expect(lstatSync(placeOf(folder, digest)).mtimeMs).toBeGreaterThan(since)
    }
  })

  it('and taking the same content at the same time: whatever was taken is whole', async () => {
    const { folder, store, manifest, inventory } = await filled()
    const root = planted({ a: 'alpha', 'b/c': 'beta', empty: '', large: Buffer.alloc(700_000, 7) })
    const digests = [manifest.digest, ...manifest.files.map((file) => file.digest)]
    let removed = 0
    for (let round = 0; round < 25; round += 1) {
      for (const digest of digests) if (existsSync(placeOf(folder, digest))) age(folder, digest, 48 * hour)
      const since = Date.now() - 24 * hour
      const clearing = (async () => {
        for (const digest of digests) removed += (await remove(inventory, digest, since)) ? 1 : 0
      })()
      await Promise.all([taken(store, root), clearing])
      for (const digest of digests) expect(await inventory.problem(digest)).toBeUndefined()
    }
    expect(removed).toBeGreaterThan(0)
  })
})

describe('objects in a pack', () => {
  async function packed() {
    const folder = join(tempFolder(), 'objects')
    const store = openSnapshotStore({ folder })
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`f${n}`, `content of file ${n}`]))
    const manifest = await taken(store, planted(files))
    const packs = join(folder, 'packs')
    const [pack = ''] = readdirSync(packs)
    return {
      folder,
      store,
      manifest,
      pack: join(packs, pack),
      inventory: openInventory(folder),
      digests: manifest.files.map(({ digest }) => digest),
    }
  }

  function agePack(pack: string): void {
    const then = (Date.now() - 48 * hour) / 1000
    utimesSync(pack, then, then)
  }

  it('are listed, proved and copied like any other', async () => {
    const { pack, manifest, digests, inventory } = await packed()
    expect((await listed(inventory)).objects.map(({ digest }) => digest).sort()).toEqual([manifest.digest, ...digests].sort())
    const to = join(tempFolder(), 'objects')
    expect(await inventory.copy(digests, to)).toEqual([])
    for (const digest of digests) expect(await openInventory(to).problem(digest)).toBeUndefined()
    chmodSync(pack, 0o644)
    const bytes = readFileSync(pack)
    bytes[bytes.indexOf('content of file 7') + 3] = 0x21
    writeFileSync(pack, bytes)
    const fresh = openInventory(dirname(dirname(pack)))
    await listed(fresh)
    const problems = await Promise.all(digests.map((digest) => fresh.problem(digest)))
    expect(problems.filter((problem) => problem !== undefined)).toHaveLength(1)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    writeFileSync(pack, bytes)
    expect((await listed(openInventory(dirname(dirname(pack))))).strays).toEqual([`packs/${basename(pack)}`])
  })

  it('go with their pack once nobody needs them; what is still needed of it is stored anew', async () => {
    const { pack, digests, manifest, store, inventory } = await packed()
    const since = Date.now() - 24 * hour
    const [kept, ...dead] = digests
    if (!kept) throw new Error('no files')
    expect(await inventory.clear(new Set(dead), since, false)).toEqual({ removed: 0, bytes: 0 })
    agePack(pack)
    expect(await inventory.clear(new Set(dead.slice(0, 20)), since, false)).toEqual({ removed: 0, bytes: 0 })
    expect(existsSync(pack)).toBe(true)
    expect(await inventory.clear(new Set(dead), since, true)).toMatchObject({ removed: 59 })
    expect(existsSync(pack)).toBe(true)
    expect(await inventory.clear(new Set(dead), since, false)).toMatchObject({ removed: 59 })
    expect(existsSync(pack)).toBe(false)
    expect(Buffer.from((await store.getBytes(kept)) ?? []).toString()).toContain('content of file')
    expect(await store.getBytes(dead[0] ?? kept)).toBeUndefined()
    expect((await store.manifest(manifest.digest))?.files).toHaveLength(60)
  })

  it('stay while a take relies on one of them', async () => {
    const { pack, digests, store, inventory } = await packed()
    agePack(pack)
    await openSnapshotStore({ folder: dirname(dirname(pack)) }).putText('content of file 3')
    expect(await inventory.clear(new Set(digests), Date.now() - 24 * hour, false)).toEqual({ removed: 0, bytes: 0 })
    expect(await store.getText(digests[0] ?? `sha256:`)).toContain('content')
  })
})
