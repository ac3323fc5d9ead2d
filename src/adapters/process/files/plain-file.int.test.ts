import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readPlainFile, readPlainFileNow } from './plain-file.ts'

it.each([
  ['awaited', readPlainFile],
  ['on the spot', async (path: string, most: number) => readPlainFileNow(path, most)],
])('a file that somebody else wrote is read if it is plain and not too large, and nothing else is: %s', async (_, read) => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-plain-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => join(folder, name)
  const large = Buffer.alloc(200_000, 'ä')
  for (const [name, content] of [
    ['empty', ''],
    ['ten', '0123456789'],
    ['large', large],
  ] as const)
    writeFileSync(at(name), content)
  symlinkSync('ten', at('link'))
  mkdirSync(at('folder'))
  execFileSync('mkfifo', [at('pipe')])
  expect(await read(at('empty'), 10)).toEqual({ bytes: Buffer.alloc(0) })
  expect(await read(at('ten'), 10)).toEqual({ bytes: Buffer.from('0123456789') })
  expect(await read(at('large'), large.length)).toEqual({ bytes: large })
  expect(await read(at('ten'), 9)).toMatchObject({ code: 'too_large' })
  expect(await read(at('large'), large.length - 1)).toMatchObject({ code: 'too_large' })
  expect(await read(at('link'), 10)).toMatchObject({ code: 'refused', message: 'it is a symbolic link' })
  expect(await read(at('folder'), 10)).toMatchObject({ code: 'refused', message: 'it is not a plain file' })
  expect(await read(at('pipe'), 10)).toMatchObject({ code: 'refused', message: 'it is not a plain file' })
  expect(await read(at('absent'), 10)).toMatchObject({ code: 'missing' })
})
