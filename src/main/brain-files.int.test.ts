import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Brain } from '../contract/agent.ts'
import { digestsOf, watched, watchedFiles } from './brain-files.ts'

const judge: Brain = { kind: 'command', argv: ['assay-test-judge', 'strict'] } as Brain
const key = 'assay-test-judge (found through PATH)'
let folder = ''
let before: string | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-path-judge-'))
  before = process.env.PATH
  for (const name of ['first', 'second']) mkdirSync(join(folder, name))
  process.env.PATH = `${join(folder, 'first')}:${join(folder, 'second')}:${before}`
})
afterEach(() => {
  process.env.PATH = before
  rmSync(folder, { recursive: true, force: true })
})

function program(place: string, says: string): string {
  const file = join(folder, place, 'assay-test-judge')
  writeFileSync(file, `#!/bin/sh\necho "SCORE: ${says}"\n`)
  chmodSync(file, 0o755)
  return file
}
const digests = (path?: string) => digestsOf(['eyes'], new Map([['eyes', watchedFiles(judge, folder, path)]]), folder)

describe('a judge that is named without a path', () => {
  it('is part of the policy: where it lies, and what it is', () => {
    const file = program('second', '10')
    const strict = digests()
    expect(strict[key]).toMatch(new RegExp(`^${file} [0-9a-f]{64}$`))
    expect(digests(), 'as long as nothing changes').toEqual(strict)
    program('second', '90')
    expect(digests(), 'another program in its place').not.toEqual(strict)
    program('second', '10')
    expect(digests()).toEqual(strict)
    program('first', '10')
    expect(digests()[key], 'PATH leads elsewhere').toContain(join(folder, 'first'))
    rmSync(join(folder, 'first'), { recursive: true })
    rmSync(join(folder, 'second'), { recursive: true })
    expect(digests()[key]).toBe('(nowhere) missing')
  })

  it('is known by its path alone where it belongs to the system, but not where a link leads out of it', () => {
    const found = digestsOf(
      ['eyes'],
      new Map([['eyes', watchedFiles({ kind: 'command', argv: ['sh'] } as Brain, folder, '/usr/bin:/bin')]]),
      folder,
    )
    expect(found['sh (found through PATH)']).toMatch(/^(\/usr)?\/bin\/sh of the system$/)
    const file = program('second', '10')
    symlinkSync(file, join(folder, 'first', 'assay-test-judge'))
    expect(digests()[key]).toMatch(/ [0-9a-f]{64}$/)
  })

  it('is known by when it was touched where it is very large', () => {
    const file = program('first', '10')
    truncateSync(file, 17 * 1024 * 1024)
    const large = digests()
    expect(digests()).toEqual(large)
    copyFileSync(file, `${file}.copy`)
    rmSync(file)
    copyFileSync(`${file}.copy`, file)
    expect(digests()).not.toEqual(large)
  })

  it('is not asked once PATH leads elsewhere, or its file has changed', async () => {
    program('second', '10')
    const brain = watched(
      {
        conversational: false,
        work: async () => ({ kind: 'failed', failure: 'error', detail: '', output: '', beforeEffect: false }),
        judge: async () => ({ kind: 'reply', reply: { channel: 'text', body: 'SCORE: 10' } }),
        close: async () => undefined,
      },
      watchedFiles(judge, folder),
    )
    const ask = () => brain.judge({} as never, new AbortController().signal)
    expect(await ask()).toMatchObject({ kind: 'reply' })
    const other = program('first', '90')
    expect(await ask()).toMatchObject({ kind: 'unavailable', detail: expect.stringContaining('found through PATH') as string })
    rmSync(other)
    expect(await ask()).toMatchObject({ kind: 'reply' })
    program('second', '90')
    expect(await ask()).toMatchObject({ kind: 'unavailable' })
  })
})
