import { describe, expect, it } from 'vitest'
import { canonicalJson, sha256Hex } from '../../../contract/canonical.ts'
import type { OpenStore } from '../open-store.ts'
import { planted, taken, tempFolder } from '../trees.ts'

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString()

export function storing(open: OpenStore): void {
  describe('what is stored', () => {
    it('gives back every file, sorted, with its size, digest and executable bit', async () => {
      const store = open()
      const manifest = await taken(store, planted({ 'b/c.txt': 'see', 'a.sh': ['#!/bin/sh'], empty: '', Z: 'upper' }))
      expect(manifest.files).toEqual([
        { path: 'Z', size: 5, digest: `sha256:${sha256Hex('upper')}`, executable: false },
        { path: 'a.sh', size: 9, digest: `sha256:${sha256Hex('#!/bin/sh')}`, executable: true },
        { path: 'b/c.txt', size: 3, digest: `sha256:${sha256Hex('see')}`, executable: false },
        { path: 'empty', size: 0, digest: `sha256:${sha256Hex('')}`, executable: false },
      ])
      expect(manifest.refused).toEqual([])
      expect(await store.manifest(manifest.digest)).toEqual(manifest)
      expect(text(await store.read(manifest.digest, 'b/c.txt'))).toBe('see')
      expect(text(await store.read(manifest.digest, 'empty'))).toBe('')
    })

    it('keeps what was taken when the folder changes afterwards', async () => {
      const store = open()
      const folder = planted({ report: 'reviewed' })
      const before = await taken(store, folder)
      const after = await taken(store, planted({ report: 'swapped' }))
      expect(text(await store.read(before.digest, 'report'))).toBe('reviewed')
      expect(text(await store.read(after.digest, 'report'))).toBe('swapped')
    })

    it('leaves out what is ignored, and does not look into an ignored folder', async () => {
      const store = open()
      const asked: string[] = []
      const manifest = await taken(store, planted({ keep: '1', 'skip/deep/x': '2', 'a/skip': '3', 'a/b': '4' }), (path) => {
        asked.push(path)
        return path === 'skip' || path === 'a/skip'
      })
      expect(manifest.files.map((file) => file.path)).toEqual(['a/b', 'keep'])
      expect(asked.some((path) => path.startsWith('skip/'))).toBe(false)
    })

    it('takes an empty folder and large files, in many folders', async () => {
      const store = open()
      expect((await taken(store, tempFolder())).files).toEqual([])
      const large = Buffer.alloc(3_000_000, 'large')
      const manifest = await taken(store, planted({ 'x/1': large, 'x/2': large, 'y/3': large.subarray(1), 'y/4': 'small' }))
      expect(manifest.files.map((file) => file.size)).toEqual([3_000_000, 3_000_000, 2_999_999, 5])
      expect(Buffer.from((await store.read(manifest.digest, 'y/3')) ?? []).equals(large.subarray(1))).toBe(true)
    })

    it('streams a file in pieces that add up to it, small or large, and says where there is none', async () => {
      const store = open()
      const large = Buffer.from(Array.from({ length: 2_500_000 }, (_, index) => index % 251))
      const { digest } = await taken(store, planted({ large, small: 'small', empty: '' }))
      const poured = async (path: string) => {
        const pieces: Uint8Array[] = []
        const there = await store.pour(digest, path, async (piece) => void pieces.push(Uint8Array.from(piece)))
        return there ? Buffer.concat(pieces) : undefined
      }
      expect((await poured('large'))?.equals(large)).toBe(true)
      expect(text(await poured('small'))).toBe('small')
      expect(text(await poured('empty'))).toBe('')
      expect(await poured('gone')).toBe(undefined)
    })

    it('composes a snapshot of files that are stored, and of no others', async () => {
      const store = open()
      const one = await taken(store, planted({ a: 'A', b: 'B' }))
      const two = await taken(store, planted({ b: 'other', 'c/d': 'D' }))
      const mixed = await store.compose([...one.files.filter(({ path }) => path === 'a'), ...two.files])
      expect(text(await store.read(mixed, 'a'))).toBe('A')
      expect(text(await store.read(mixed, 'b'))).toBe('other')
      expect((await store.manifest(mixed))?.files.map(({ path }) => path)).toEqual(['a', 'b', 'c/d'])
      expect(await store.compose(one.files)).toBe(one.digest)
      const absent = { path: 'x', size: 3, digest: `sha256:${'0'.repeat(64)}` as const, executable: false }
      await expect(store.compose([absent])).rejects.toMatchObject({ code: 'not_found' })
    })

    it('keeps bytes as they are', async () => {
      const store = open()
      const bytes = Uint8Array.from([0, 255, 10, 128])
      const digest = await store.putBytes(bytes)
      expect([...((await store.getBytes(digest)) ?? [])]).toEqual([...bytes])
      expect(await store.getBytes(`sha256:${'0'.repeat(64)}`)).toBeUndefined()
    })

    it('hands out manifests that a caller cannot spoil', async () => {
      const store = open()
      const { digest } = await taken(store, planted({ a: 'A' }))
      const mine = await store.manifest(digest)
      mine?.files.splice(0)
      expect((await store.manifest(digest))?.files).toHaveLength(1)
      expect(text(await store.read(digest, 'a'))).toBe('A')
    })

    it('keeps texts by their digest', async () => {
      const store = open()
      for (const sample of ['', 'plain', 'zwölf ✓ 😀\n\0', 'x'.repeat(2_000_000)]) {
        const digest = await store.putText(sample)
        expect(digest).toBe(`sha256:${sha256Hex(sample)}`)
        expect(await store.putText(sample)).toBe(digest)
        expect(await store.getText(digest)).toBe(sample)
      }
    })
  })

  describe('what is not there', () => {
    it('is undefined for an unknown or ill-formed digest', async () => {
      const store = open()
      const unknown = `sha256:${'0'.repeat(64)}`
      for (const digest of [unknown, 'sha256:../../../../etc/passwd', `sha256:${'A'.repeat(64)}`, '', '../x', `md5:${'0'.repeat(64)}`]) {
        expect(await store.manifest(digest)).toBeUndefined()
        expect(await store.read(digest, 'a')).toBeUndefined()
        expect(await store.getText(digest)).toBeUndefined()
        expect(await store.restore(digest, `${tempFolder()}/new`)).toMatchObject({ ok: false, problem: { code: 'not_found' } })
      }
      expect(await store.take(`${tempFolder()}/missing`)).toMatchObject({ ok: false, problem: { code: 'not_found' } })
    })

    it.each(hostilePaths)('is undefined for the path %j', async (path) => {
      const store = open()
      const { digest } = await taken(store, planted({ 'a/b': 'inside', '..c': 'inside' }))
      expect(await store.read(digest, path)).toBeUndefined()
    })

    it('includes a text that only looks like a manifest', async () => {
      const store = open()
      const file = { size: 0, digest: `sha256:${sha256Hex('')}`, executable: false }
      for (const path of ['../out', '/out', 'a/../../out', 'a//b', './a', '', 'a/', 'nul\0']) {
        const digest = await store.putText(canonicalJson({ format: 'assay.snapshot/1', files: [{ path, ...file }], refused: [] }))
        expect(await store.manifest(digest)).toBeUndefined()
        expect(await store.restore(digest, `${tempFolder()}/new`)).toMatchObject({ ok: false })
      }
      expect(await store.manifest(await store.putText('{}'))).toBeUndefined()
      expect(await store.manifest(await store.putText('no json'))).toBeUndefined()
    })
  })
}

const hostilePaths = [
  '',
  '.',
  '..',
  '/',
  '../a/b',
  './a/b',
  'a',
  'a/',
  'a//b',
  '/a/b',
  'a/b/',
  'a/./b',
  'a/../a/b',
  'a/../../etc/passwd',
  '/etc/passwd',
  '/proc/self/environ',
  '..\\..\\etc\\passwd',
  'a\\b',
  'a/b\0',
  'a/b\0.txt',
  '\0',
  'A/b',
  'a/B',
  'a/b ',
  ' a/b',
  'a/b\n',
  'a%2fb',
  '%2e%2e/a',
  'a/％2e',
  '․․/a',
  'file:///etc/passwd',
  'a/b:stream',
  '~/a',
  '$HOME',
  '`id`',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(5000),
  'x/'.repeat(2500),
]
