import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findProgram } from './program.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-program-'))
  mkdirSync(join(folder, 'first'))
  mkdirSync(join(folder, 'second'))
  script('first/plain', '#!/bin/sh\n', 0o644)
  script('second/plain', '#!/bin/sh\n')
  script('only', '#!/bin/sh\n', 0o644)
  script('lost', '#!/no/such/interpreter -x\n')
  script('crlf', '#!/bin/sh\r\necho\r\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function script(name: string, text: string, mode = 0o755): void {
  writeFileSync(join(folder, name), text)
  chmodSync(join(folder, name), mode)
}

describe('findProgram', () => {
  it('looks a bare name up in PATH, past what cannot be run', () => {
    expect(findProgram('plain', '/', `${folder}/first:${folder}/second`)).toEqual({ file: join(folder, 'second/plain') })
  })

  it('does not look in the working folder, whatever PATH says', () => {
    expect(findProgram('only', folder, '::.:first')).toMatchObject({ kind: 'not_started', code: 'ENOENT' })
  })

  it('starts a relative name with a slash from the base', () => {
    expect(findProgram('./second/plain', folder, '')).toEqual({ file: join(folder, 'second/plain') })
    expect(findProgram('./missing', folder, '')).toEqual({
      kind: 'not_started',
      code: 'ENOENT',
      message: `${join(folder, 'missing')} does not exist (./missing is relative to ${folder})`,
    })
  })

  it.each(['./only', './first'])('refuses %s, which is no executable file', (name) => {
    expect(findProgram(name, folder, '')).toMatchObject({ kind: 'not_started', code: 'EACCES' })
  })

  it('names the interpreter that a script asks for in vain', () => {
    expect(findProgram('./lost', folder, '')).toMatchObject({ code: 'ENOENT', message: expect.stringContaining('/no/such/interpreter') })
    expect(findProgram('./crlf', folder, '')).toMatchObject({ code: 'ENOENT', message: expect.stringContaining('carriage return') })
  })
})
