import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OpenStore } from '../open-store.ts'
import { contentsOf, expectedContents, plant, planted, problemOf, type Tree, taken, tempFolder } from '../trees.ts'

const part = fc.constantFrom('a', 'b', 'c', 'd.txt', 'é')
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
const content = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constantFrom('', 'same', 'same again'), fc.constant(Buffer.alloc(300_000, 7)))
const file = fc.oneof(
  content,
  content.map((bytes): [string | Uint8Array] => [bytes]),
)
/** No file lies where another one needs a folder. */
const trees = fc.array(fc.tuple(path, file), { maxLength: 12 }).map((files) => {
  const tree: Tree = {}
  for (const [name, bytes] of files) {
    const clash = Object.keys(tree).some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))
    if (!clash) tree[name] = bytes
  }
  return tree
})

export function restoring(open: OpenStore): void {
  describe('a restore', () => {
    it('makes any folder hold exactly the snapshot, and doing it again changes nothing', async () => {
      const store = open()
      const ground = tempFolder()
      let round = 0
      await fc.assert(
        fc.asyncProperty(trees, trees, fc.boolean(), async (wanted, there, link) => {
          const at = join(ground, String(round++))
          const { digest } = await taken(store, plant(join(at, 'wanted'), wanted))
          const folder = plant(join(at, 'folder'), there)
          if (link && !existsSync(join(folder, 'b'))) symlinkSync('/', join(folder, 'b'))
          expect(await store.restore(digest, folder)).toEqual({ ok: true })
          expect(contentsOf(folder)).toEqual(expectedContents(wanted))
          expect((await taken(store, folder)).digest).toBe(digest)
          const before = timesOf(folder, wanted)
          expect(await store.restore(digest, folder)).toEqual({ ok: true })
          expect(timesOf(folder, wanted)).toEqual(before)
        }),
        { numRuns: 60 },
      )
    })

    it('writes through no link, whatever place it takes', async () => {
      const store = open()
      const { digest } = await taken(store, planted({ 'a/b/c': 'new', d: 'new' }))
      const outside = planted({ c: 'OUTSIDE', 'b/c': 'OUTSIDE', d: 'OUTSIDE' })
      const before = contentsOf(outside)
      for (const place of ['a', 'a/b', 'a/b/c', 'd', '.']) {
        const folder = join(tempFolder(), 'folder')
        mkdirSync(dirname(join(folder, place)), { recursive: true })
        symlinkSync(
          place === 'd' || place === 'a/b/c' ? join(outside, 'd') : outside,
          join(folder, place === '.' ? '' : place).replace(/\/$/, ''),
        )
        expect(await store.restore(digest, folder)).toEqual({ ok: true })
        expect(contentsOf(folder)).toEqual(expectedContents({ 'a/b/c': 'new', d: 'new' }))
        expect(lstatSync(folder).isDirectory()).toBe(true)
        expect(contentsOf(outside)).toEqual(before)
      }
    })

    it('replaces a hard link by a file of its own', async () => {
      const store = open()
      const { digest } = await taken(store, planted({ d: 'same' }))
      const outside = planted({ d: 'same' })
      const folder = tempFolder()
      linkSync(join(outside, 'd'), join(folder, 'd'))
      expect(await store.restore(digest, folder)).toEqual({ ok: true })
      expect(statSync(join(folder, 'd')).nlink).toBe(1)
      expect(statSync(join(outside, 'd')).nlink).toBe(1)
    })

    it('clears folders and files without rights', async () => {
      const store = open()
      const { digest } = await taken(store, planted({ fine: 'x' }))
      const folder = planted({ 'locked/in/x': '1', 'closed/y': '2', 'read-only': '3' })
      chmodSync(join(folder, 'locked/in'), 0o000)
      chmodSync(join(folder, 'locked'), 0o500)
      chmodSync(join(folder, 'closed'), 0o000)
      chmodSync(join(folder, 'read-only'), 0o000)
      chmodSync(folder, 0o500)
      expect(await store.restore(digest, folder)).toEqual({ ok: true })
      expect(contentsOf(folder)).toEqual(expectedContents({ fine: 'x' }))
    })

    it('leaves alone what is to be kept and what the snapshot itself had refused', async () => {
      const store = open()
      const folder = planted({ work: 'old', '.git/head': 'ref', 'pkg/node_modules/m': 'module', 'pkg/x': 'x' })
      symlinkSync('/etc', join(folder, 'link'))
      const keep = (inner: string) => inner === '.git' || inner.endsWith('node_modules')
      const { digest } = await taken(store, folder, keep)
      const before = contentsOf(folder)
      writeFileSync(join(folder, 'work'), 'new')
      writeFileSync(join(folder, 'pkg/y'), 'new')
      symlinkSync('/etc', join(folder, 'another'))
      expect(await store.restore(digest, folder, { keep })).toEqual({ ok: true })
      expect(contentsOf(folder)).toEqual(before)
      const without = await taken(store, planted({ other: '1' }))
      expect(await store.restore(without.digest, folder, { keep })).toEqual({ ok: true })
      expect(Object.keys(contentsOf(folder))).toEqual(['.git/head', 'other', 'pkg/node_modules/m'])
    })

    it('reports a kept folder that stands where a file belongs, and loses nothing of it', async () => {
      const store = open()
      const { digest } = await taken(store, planted({ a: 'file' }))
      const folder = planted({ 'a/.git/head': 'ref' })
      expect(problemOf(await store.restore(digest, folder, { keep: (inner) => inner === 'a/.git' })).code).toBe('io')
      expect(contentsOf(folder)).toEqual(expectedContents({ 'a/.git/head': 'ref' }))
    })

    it('makes files read-only on request, also those that had become writable', async () => {
      const store = open()
      const { digest } = await taken(store, planted({ a: 'x', run: ['y'] }))
      const folder = tempFolder()
      for (let round = 0; round < 2; round++) {
        expect(await store.restore(digest, folder, { readOnly: true })).toEqual({ ok: true })
        expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o444)
        expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o555)
        chmodSync(join(folder, 'a'), 0o644)
      }
    })

    it('makes the folder and its parents', async () => {
      const store = open()
      const { digest } = await taken(store, planted({ a: 'x' }))
      const folder = join(tempFolder(), 'not/yet/there')
      expect(await store.restore(digest, folder)).toEqual({ ok: true })
      expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('x')
    })
  })
}

function timesOf(folder: string, tree: Tree): [string, number][] {
  return Object.keys(tree).map((name) => [name, statSync(join(folder, name)).mtimeMs])
}
