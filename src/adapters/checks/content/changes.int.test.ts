import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckReport, type CheckSpec } from '../../../contract/check.ts'
import { createCheckRunner } from '../runner.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-changes-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** What the base had and what the worker left, by path; undefined is no file. */
type Change = { before?: string | Buffer; after?: string | Buffer }

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

async function check(spec: CheckSpec, changes: Record<string, Change>, signal = new AbortController().signal): Promise<CheckReport> {
  for (const [path, { after }] of Object.entries(changes)) if (after !== undefined) write(path, after)
  const runner = createCheckRunner({ projectRoot: folder, timeoutMs: 60_000, maxOutputBytes: 20_000, maxFileBytes: 1_000_000 })
  const report = await runner.run(
    'c1',
    spec,
    {
      folder,
      output: 'TODO in the output is not looked at',
      changed: Object.keys(changes).sort(),
      baseFile: async (path) => (changes[path]?.before === undefined ? undefined : Buffer.from(changes[path].before)),
      keep: async () => 'sha256:0',
    },
    signal,
  )
  expect(CheckReport.parse(report)).toEqual(report)
  return report
}

const oddNames = [
  '$(touch pwned)',
  '-rf',
  '--help',
  'a\nb.txt',
  ';id',
  '`touch pwned`',
  '| touch pwned',
  ' ',
  'ü\u202e.txt',
  '*',
  '[x]',
  '\'"',
  '\\',
  '...',
]

describe('a placeholders check', () => {
  const placeholders = (more: object = {}): CheckSpec => ({ kind: 'placeholders', ...more })

  it('looks at added lines of changed files alone', async () => {
    write('old.txt', 'TODO: old')
    const changes = {
      'a.txt': { before: 'TODO: old\n', after: 'TODO: old\nfine\n' },
      'sub/b.txt': { after: 'fine' },
      gone: { before: 'TODO' },
    }
    expect(await check(placeholders(), changes)).toMatchObject({ outcome: 'pass', summary: 'added lines: as required', output: '' })
    const report = await check(placeholders(), { ...changes, 'sub/b.txt': { after: 'one\nLorem ipsum dolor sit amet\n// TODO: x' } })
    expect(report).toMatchObject({ outcome: 'fail', summary: expect.stringContaining('(and 1 more)') })
    expect(report.output.split('\n')).toEqual([
      'sub/b.txt:2: filler text: "Lorem ipsum" in "Lorem ipsum dolor sit amet"',
      'sub/b.txt:3: unfinished marker: "TODO" in "// TODO: x"',
    ])
  })

  it('passes where nothing was added, and fails where it could look at nothing', async () => {
    expect(await check(placeholders(), {})).toMatchObject({ outcome: 'pass', summary: 'nothing was added' })
    const deleted = { 'site/index.html': { before: '<h1>Bread</h1>' } }
    expect(await check(placeholders(), deleted)).toMatchObject({ outcome: 'pass', summary: 'nothing was added' })
    expect(await check(placeholders({ paths: ['site/*.html'] }), deleted)).toMatchObject({ outcome: 'fail' })
    write('site/index.html', '<h1>TODO</h1>')
    expect(await check(placeholders({ paths: ['site/*.html'] }), {})).toMatchObject({ outcome: 'pass', summary: 'nothing was added' })
    expect(await check(placeholders({ paths: ['./site/index.html'] }), {})).toMatchObject({ outcome: 'pass' })
    for (const paths of [['page/*.html'], ['site'], [''], []])
      expect(await check(placeholders({ paths }), {}), `${paths}`).toMatchObject({
        outcome: 'fail',
        summary: expect.stringContaining('no file'),
      })
  })

  it('looks where it is told to', async () => {
    const changes = { 'site/a.html': { after: 'TODO' }, 'notes/.b.md': { after: 'TODO' } }
    expect(await check(placeholders({ paths: ['notes/**'] }), changes)).toMatchObject({
      outcome: 'fail',
      output: expect.stringMatching(/^notes[^\n]*$/),
    })
    expect(await check(placeholders({ allow: ['TODO'] }), changes)).toMatchObject({ outcome: 'pass' })
  })

  it('names what it cannot look at, and is not fooled by NULs or other encodings', async () => {
    const utf16 = Buffer.from('\ufeff<p>TODO</p>', 'utf16le')
    writeFileSync(join(folder, 'outside.txt'), 'TODO')
    symlinkSync(join(folder, 'outside.txt'), join(folder, 'link.txt'))
    const binary = { 'a.png': { after: Buffer.from('TODO\0') }, 'link.txt': {} }
    expect(await check(placeholders(), binary)).toMatchObject({
      outcome: 'pass',
      output: 'a.png: not looked at: it is binary\nlink.txt: not looked at: it is a symbolic link',
    })
    expect(await check(placeholders({ paths: ['link.txt'] }), binary)).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('no file'),
    })
    expect(await check(placeholders(), { 'a.html': { after: Buffer.from('<p>TODO</p>\0') } })).toMatchObject({
      outcome: 'fail',
      output: expect.stringContaining('NUL'),
    })
    expect(await check(placeholders(), { 'a.html': { after: utf16 } })).toMatchObject({
      outcome: 'fail',
      output: expect.stringContaining('"TODO"'),
    })
    expect(
      await check(placeholders(), { 'a.txt': { after: Buffer.concat([Buffer.from('TODO'), Buffer.from([0xff, 0xfe, 0x80])]) } }),
    ).toMatchObject({
      outcome: 'fail',
    })
  })

  it('is an error where there is more than may be read, unless it is binary', async () => {
    expect(await check(placeholders(), { 'big.txt': { after: 'a\n'.repeat(600_000) } })).toMatchObject({ outcome: 'error' })
    write('big.bin', '')
    truncateSync(join(folder, 'big.bin'), 5_000_000)
    expect(await check(placeholders(), { 'big.bin': {} })).toMatchObject({ outcome: 'pass', output: expect.stringContaining('binary') })
  })

  it('takes names as names', async () => {
    const changes = Object.fromEntries(oddNames.map((name) => [name, { after: 'TODO' }]))
    const report = await check(placeholders({ paths: ['**'] }), changes)
    expect(report.outcome).toBe('fail')
    expect(report.output.split('\n')).toHaveLength(oddNames.length)
    expect(report.output).toContain('a\\nb.txt:1:')
    expect([existsSync(join(folder, 'pwned')), existsSync('pwned')]).toEqual([false, false])
  })

  it('touches no pipe', async () => {
    execFileSync('mkfifo', [join(folder, 'fifo')])
    expect(await check(placeholders(), { fifo: {} })).toMatchObject({ outcome: 'pass', output: expect.stringContaining('not looked at') })
  })
})

describe('a diff check', () => {
  const diff = (more: object): CheckSpec => ({ kind: 'diff', ...more })

  it('looks at which files changed, and how much', async () => {
    const changes = {
      'src/a.ts': { before: 'a', after: 'abc' },
      'src/.hidden/b.ts': { after: 'de' },
      'src/gone.ts': { before: 'x'.repeat(1000) },
    }
    const all = diff({ nonEmpty: true, paths: ['src/**'], maxFiles: 3, maxBytes: 5 })
    expect(await check(all, changes)).toMatchObject({ outcome: 'pass', summary: '3 changed files: as required' })
    const report = await check(diff({ nonEmpty: true, paths: ['src/*.ts', 'docs/**'], maxFiles: 2, maxBytes: 4 }), changes)
    expect(report.outcome).toBe('fail')
    expect(report.output.split('\n')).toEqual([
      '3 files changed; at most 2 are allowed',
      'src/.hidden/b.ts changed; it is not one of the allowed paths',
      'the changed files have 5 bytes; at most 4 are allowed',
    ])
  })

  it('that asks for a change fails without one', async () => {
    expect(await check(diff({ nonEmpty: true }), {})).toMatchObject({ outcome: 'fail', summary: '0 changed files: nothing changed' })
    expect(await check(diff({ paths: ['src/**'], maxFiles: 0 }), {})).toMatchObject({ outcome: 'pass' })
    const refused = { pipe: {} }
    expect(await check(diff({ nonEmpty: true }), refused)).toMatchObject({
      outcome: 'fail',
      summary: expect.stringContaining('no plain file'),
    })
    expect(await check(diff({ nonEmpty: true }), { ...refused, gone: { before: 'x' } })).toMatchObject({ outcome: 'pass' })
  })

  it('that asks for nothing is an error', async () => {
    for (const more of [{}, { nonEmpty: false }]) expect(await check(diff(more), { a: { after: 'a' } })).toMatchObject({ outcome: 'error' })
  })

  it('takes names as names', async () => {
    const changes = Object.fromEntries(oddNames.map((name) => [`work/${name}`, { after: 'xy' }]))
    expect(await check(diff({ paths: ['work/**'], maxBytes: oddNames.length * 2 }), changes)).toMatchObject({ outcome: 'pass' })
    const report = await check(diff({ paths: ['other/**'] }), changes)
    expect(report.output.split('\n')).toHaveLength(oddNames.length)
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })

  it('allows nothing by globs that mean nothing', async () => {
    for (const paths of [[], [''], ['./'], ['..'], ['../**'], ['/**']])
      expect(await check(diff({ paths }), { 'a.txt': { after: 'a' } }), `${paths}`).toMatchObject({ outcome: 'fail' })
  })

  it('counts exactly, and passes exactly when all that is asked for holds', async () => {
    const name = fc.constantFrom('a.ts', 'src/b.ts', 'src/c/d.md', '.env', 'docs/x.md')
    const changesOf = fc.dictionary(name, fc.record({ after: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }) }))
    const asked = fc.record({ paths: fc.constantFrom(['src/**'], ['**/*.md'], ['**']), maxFiles: fc.nat(5), maxBytes: fc.nat(40) })
    const allowed: Record<string, (path: string) => boolean> = {
      'src/**': (path) => path.startsWith('src/'),
      '**/*.md': (path) => path.endsWith('.md'),
      '**': () => true,
    }
    await fc.assert(
      fc.asyncProperty(changesOf, asked, async (changes, spec) => {
        rmSync(folder, { recursive: true, force: true })
        mkdirSync(folder)
        const written = Object.fromEntries(Object.entries(changes).map(([path, { after }]) => [path, after === undefined ? {} : { after }]))
        const bytes = Object.values(changes).reduce((sum, { after }) => sum + Buffer.byteLength(after ?? ''), 0)
        const paths = Object.keys(changes)
        const holds = paths.length <= spec.maxFiles && bytes <= spec.maxBytes && paths.every((path) => allowed[spec.paths[0]!]!(path))
        expect((await check(diff(spec), written)).outcome).toBe(holds ? 'pass' : 'fail')
      }),
    )
  })
})
