import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OpenStore } from '../open-store.ts'
import { planted } from '../trees.ts'

const roomy = 100_000_000

export function singleFiles(open: OpenStore): void {
  describe('one file', () => {
    it('is streamed into the store under its name, small, large, executable or with several names', async () => {
      const store = open()
      const large = Buffer.alloc(3_000_000, 'large')
      const folder = planted({ small: 's', 'run.sh': ['#!/bin/sh'], large })
      linkSync(join(folder, 'small'), join(folder, 'again'))
      for (const [name, bytes] of [
        ['small', Buffer.from('s')],
        ['again', Buffer.from('s')],
        ['run.sh', Buffer.from('#!/bin/sh')],
        ['large', large],
      ] as const) {
        const taken = await store.putFile(join(folder, name), roomy)
        const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
        expect(taken).toEqual({ ok: true, file: { path: name, size: bytes.length, digest, executable: name === 'run.sh' } })
        if (taken.ok) expect(Buffer.from((await store.read(await store.compose([taken.file]), name)) ?? []).equals(bytes)).toBe(true)
      }
    })

    it('is refused where it is a link, a pipe, a folder, nothing, or longer than the limit', async () => {
      const store = open()
      const folder = planted({ real: 'four', 'inner/x': '' })
      symlinkSync('real', join(folder, 'link'))
      mkdirSync(join(folder, 'folder'))
      expect(spawnSync('mkfifo', [join(folder, 'pipe')]).status).toBe(0)
      for (const [name, code] of [
        ['link', 'io'],
        ['pipe', 'io'],
        ['folder', 'io'],
        ['nothing', 'not_found'],
        ['nowhere/nothing', 'io'],
      ])
        expect(await store.putFile(join(folder, name ?? ''), roomy), name).toMatchObject({ ok: false, problem: { code } })
      expect(await store.putFile(join(folder, 'real'), 3)).toMatchObject({ ok: false, problem: { code: 'too_large' } })
      expect(await store.putFile(join(folder, 'real'), 4)).toMatchObject({ ok: true })
    })

    it('is refused where it does not hold still', async () => {
      const store = open()
      const file = join(planted({ log: Buffer.alloc(8_000_000) }), 'log')
      let writes = 0
      const writer = setInterval(() => {
        appendFileSync(file, 'more')
        writes += 1
      }, 1)
      const taken = await store.putFile(file, roomy).finally(() => clearInterval(writer))
      expect(writes).toBeGreaterThan(0)
      expect(taken).toMatchObject({ ok: false, problem: { code: 'changed_while_reading' } })
    })
  })
}
