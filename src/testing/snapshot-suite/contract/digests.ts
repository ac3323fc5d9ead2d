import { chmodSync, mkdirSync, renameSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { canonicalJson, sha256Hex } from '../../../contract/canonical.ts'
import type { OpenStore } from '../open-store.ts'
import { planted, taken } from '../trees.ts'

const tree = { 'a.txt': 'one', 'b/c': 'two', 'b/d': 'three' }

/** Every way in which two folders differ to somebody who looks. */
const changes: [string, (folder: string) => void][] = [
  ['one byte of content', (folder) => writeFileSync(join(folder, 'b/c'), 'twO')],
  ['a byte appended', (folder) => writeFileSync(join(folder, 'b/c'), 'two\n')],
  [
    'content swapped between two files',
    (folder) => {
      writeFileSync(join(folder, 'b/c'), 'three')
      writeFileSync(join(folder, 'b/d'), 'two')
    },
  ],
  ['a file made executable', (folder) => chmodSync(join(folder, 'a.txt'), 0o755)],
  ['a file renamed', (folder) => renameSync(join(folder, 'a.txt'), join(folder, 'A.txt'))],
  ['a file moved to another folder', (folder) => renameSync(join(folder, 'a.txt'), join(folder, 'b/a.txt'))],
  ['a file added', (folder) => writeFileSync(join(folder, 'new'), '')],
  ['a file deleted', (folder) => unlinkSync(join(folder, 'b/d'))],
  [
    'a file swapped for a link to the same content',
    (folder) => {
      unlinkSync(join(folder, 'b/d'))
      writeFileSync(join(folder, 'e'), 'three')
      symlinkSync('../e', join(folder, 'b/d'))
    },
  ],
  ['a link added', (folder) => symlinkSync('a.txt', join(folder, 'link'))],
  [
    'a file replaced by a folder',
    (folder) => {
      unlinkSync(join(folder, 'a.txt'))
      mkdirSync(join(folder, 'a.txt'))
      writeFileSync(join(folder, 'a.txt/x'), 'one')
    },
  ],
]

export function digestsMean(open: OpenStore): void {
  describe('a digest', () => {
    it('is that of the canonical list of what is there', async () => {
      const manifest = await taken(open(), planted(tree))
      const list = { format: 'assay.snapshot/1', files: manifest.files, refused: manifest.refused }
      expect(manifest.digest).toBe(`sha256:${sha256Hex(canonicalJson(list))}`)
    })

    it('does not depend on times, order of creation, place, store, rights that do not matter, or empty folders', async () => {
      const first = planted(tree)
      const second = planted(Object.fromEntries(Object.entries(tree).reverse()))
      utimesSync(join(second, 'a.txt'), 1, 1)
      utimesSync(second, 2, 2)
      chmodSync(join(second, 'b/c'), 0o600)
      mkdirSync(join(second, 'nothing/in/here'), { recursive: true })
      expect((await taken(open(), first)).digest).toBe((await taken(open(), second)).digest)
    })

    it.each(changes)('changes with %s', async (_, change) => {
      const store = open()
      const folder = planted(tree)
      const before = await taken(store, folder)
      change(folder)
      const after = await taken(store, folder)
      expect(after.digest).not.toBe(before.digest)
      expect(await store.manifest(before.digest)).toEqual(before)
    })

    it('changes when a link is pointed elsewhere', async () => {
      const store = open()
      const folder = planted(tree)
      symlinkSync('a.txt', join(folder, 'link'))
      const before = await taken(store, folder)
      unlinkSync(join(folder, 'link'))
      symlinkSync('/etc/passwd', join(folder, 'link'))
      const after = await taken(store, folder)
      expect(before.refused).toEqual([{ path: 'link', why: 'symbolic link to "a.txt"' }])
      expect(after.refused).toEqual([{ path: 'link', why: 'symbolic link to "/etc/passwd"' }])
      expect(after.digest).not.toBe(before.digest)
    })
  })
}
