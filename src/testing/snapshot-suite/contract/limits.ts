import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OpenStore } from '../open-store.ts'
import { planted, problemOf, taken } from '../trees.ts'

export function limitsHold(open: OpenStore): void {
  describe('a limit', () => {
    it('on one file is exact and names the file', async () => {
      const store = open({ maxFileBytes: 10 })
      await taken(store, planted({ 'just.right': 'x'.repeat(10) }))
      const problem = problemOf(await store.take(planted({ 'too.big': 'x'.repeat(11) })))
      expect(problem.code).toBe('too_large')
      expect(problem.message).toMatch(/"too\.big" has 11 bytes.*maxFileBytes/)
    })

    it('on one file is met before its bytes are read', async () => {
      const folder = planted({ sparse: '' })
      truncateSync(join(folder, 'sparse'), 8 * 2 ** 40)
      expect(problemOf(await open().take(folder)).message).toContain('8796093022208 bytes')
    })

    it('on all files together is exact', async () => {
      const store = open({ maxTotalBytes: 10 })
      await taken(store, planted({ a: '12345', b: '12345' }))
      expect(problemOf(await store.take(planted({ a: '12345', b: '123456' })))).toMatchObject({ code: 'too_large' })
    })

    it('on all files together holds for large files that are read side by side', async () => {
      const folder = planted({ a: Buffer.alloc(300_000), b: Buffer.alloc(300_000, 1), c: Buffer.alloc(300_000, 2) })
      await taken(open({ maxTotalBytes: 900_000 }), folder)
      expect(problemOf(await open({ maxTotalBytes: 899_999 }).take(folder)).message).toContain('maxTotalBytes')
    })

    it('on entries counts files, folders and what is refused', async () => {
      const store = open({ maxFiles: 4 })
      await taken(store, planted({ 'f/a': '', 'f/b': '', c: '' }))
      const problem = problemOf(await store.take(planted({ 'f/a': '', 'f/b': '', c: '', d: '' })))
      expect(problem).toMatchObject({ code: 'too_large', message: expect.stringContaining('maxFiles') })
    })

    it('on a text is the one on a file', async () => {
      const store = open({ maxFileBytes: 10 })
      await store.putText('x'.repeat(10))
      await expect(store.putText('x'.repeat(11))).rejects.toMatchObject({ code: 'too_large' })
    })

    it('does not count what is ignored', async () => {
      const folder = planted({ small: 'x' })
      writeFileSync(join(folder, 'big'), 'x'.repeat(100))
      expect((await taken(open({ maxFileBytes: 10 }), folder, (path) => path === 'big')).files).toHaveLength(1)
    })
  })
}
