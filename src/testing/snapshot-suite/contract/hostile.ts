import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OpenStore } from '../open-store.ts'
import { contentsOf, planted, problemOf, taken, tempFolder } from '../trees.ts'

/** Names that are odd but are just names. */
const oddNames = [
  'new\nline',
  'tab\tand\rreturn',
  '..dots',
  '...',
  '-rf',
  ' leading and trailing ',
  'quote\'s "and" `ticks`',
  'back\\slash',
  '$(touch pwned)',
  ';id',
  '*?[a]',
  'ünïcödé',
  'u\u0308 decomposed',
  '\u202Ertl',
  'zero\u200Bwidth',
  '\u001b[31mred',
  '😀',
  'CON',
  'case',
  'CASE',
  'x'.repeat(255),
]

export function hostileFolders(open: OpenStore): void {
  describe('a hostile folder', () => {
    it.each(oddNames)('may hold a file and a folder named %j', async (name) => {
      const store = open()
      const folder = planted({ [name]: 'file', [`in ${name.slice(0, 200)}/${name}`]: 'deep' })
      const manifest = await taken(store, folder)
      expect(manifest.refused).toEqual([])
      const copy = join(tempFolder(), 'copy')
      expect(await store.restore(manifest.digest, copy)).toEqual({ ok: true })
      expect(contentsOf(copy)).toEqual(contentsOf(folder))
      expect(Object.keys(contentsOf(copy))).toHaveLength(2)
    })

    it('has its links, pipes, sockets and hard links named, and none of them followed or waited for', async () => {
      const outside = planted({ secret: 'OUTSIDE', 'folder/secret': 'OUTSIDE' })
      const folder = planted({ real: 'inside' })
      symlinkSync(join(outside, 'secret'), join(folder, 'link'))
      symlinkSync(join(outside, 'folder'), join(folder, 'folder-link'))
      symlinkSync('/proc/self/environ', join(folder, 'environ'))
      symlinkSync('loop', join(folder, 'loop'))
      symlinkSync('nowhere', join(folder, 'dangling'))
      linkSync(join(outside, 'secret'), join(folder, 'hard'))
      expect(spawnSync('mkfifo', [join(folder, 'pipe')]).status).toBe(0)
      await listening(join(folder, 'socket'))
      const store = open()
      const manifest = await taken(store, folder)
      expect(manifest.files.map((file) => file.path)).toEqual(['real'])
      expect(manifest.refused).toEqual([
        { path: 'dangling', why: 'symbolic link to "nowhere"' },
        { path: 'environ', why: 'symbolic link to "/proc/self/environ"' },
        { path: 'folder-link', why: `symbolic link to ${JSON.stringify(join(outside, 'folder'))}` },
        { path: 'hard', why: 'hard link' },
        { path: 'link', why: `symbolic link to ${JSON.stringify(join(outside, 'secret'))}` },
        { path: 'loop', why: 'symbolic link to "loop"' },
        { path: 'pipe', why: 'named pipe' },
        { path: 'socket', why: 'socket' },
      ])
      expect(await store.read(manifest.digest, 'link')).toBeUndefined()
      expect(await store.read(manifest.digest, 'folder-link/secret')).toBeUndefined()
    })

    it('is refused when it is itself a link or a file', async () => {
      const folder = planted({ secret: 'x' })
      const parent = tempFolder()
      symlinkSync(folder, join(parent, 'link'))
      expect(problemOf(await open().take(join(parent, 'link'))).code).toBe('io')
      expect(problemOf(await open().take(join(folder, 'secret'))).code).toBe('io')
    })

    it('may have names that are no UTF-8: they are named apart and not taken', async () => {
      const folder = planted({ fine: 'x', '\\xff': 'a name like the escaped one' })
      const odd = (bytes: number[]) => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(bytes)])
      writeFileSync(odd([0xff]), 'hidden')
      writeFileSync(odd([0xff, 0x5c, 0x78, 0x66, 0x65]), 'hidden')
      writeFileSync(odd([0xff, 0xfe]), 'hidden')
      mkdirSync(odd([0xc3, 0x28]))
      const manifest = await taken(open(), folder)
      expect(manifest.files.map((file) => file.path)).toEqual(['\\xff', 'fine'])
      expect(manifest.refused).toEqual([
        { path: '\\xc3(', why: 'name is not UTF-8' },
        { path: '\\xff', why: 'name is not UTF-8' },
        { path: '\\xff\\\\xfe', why: 'name is not UTF-8' },
        { path: '\\xff\\xfe', why: 'name is not UTF-8' },
      ])
    })

    it('may be hundreds of folders deep', async () => {
      const folder = planted({ [`${'d/'.repeat(400)}bottom`]: 'found' })
      const store = open()
      const manifest = await taken(store, folder)
      expect(manifest.files).toHaveLength(1)
      const copy = join(tempFolder(), 'copy')
      expect(await store.restore(manifest.digest, copy)).toEqual({ ok: true })
      expect(contentsOf(copy)).toEqual(contentsOf(folder))
    })

    it('may be deeper than any path: what cannot be named is refused, and a restore still clears it away', async () => {
      const folder = planted({ top: 'kept' })
      bury(folder, 5200)
      const store = open()
      const manifest = await taken(store, folder)
      expect(manifest.files.map((file) => file.path)).toEqual(['top'])
      expect(manifest.refused).toHaveLength(1)
      expect(manifest.refused[0]?.why).toMatch(/path is (longer|too long)/)
      const clean = await taken(store, planted({ top: 'kept' }))
      expect(await store.restore(clean.digest, folder)).toEqual({ ok: true })
      expect(contentsOf(folder)).toEqual({ top: Buffer.from('kept').toString('hex') })
    })
  })
}

async function listening(path: string): Promise<void> {
  const server = createServer()
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())))
  await new Promise<void>((resolve) => {
    server.listen(path, resolve)
  })
}

/** Makes folders inside folders until their path has so many characters, by moving what is there down into a new one. */
function bury(folder: string, characters: number): void {
  const name = 'n'.repeat(200)
  mkdirSync(join(folder, 'deep'))
  for (let length = 0; length < characters; length += name.length + 1) {
    mkdirSync(join(folder, 'next'))
    renameSync(join(folder, 'deep'), join(folder, 'next', name))
    renameSync(join(folder, 'next'), join(folder, 'deep'))
  }
}
