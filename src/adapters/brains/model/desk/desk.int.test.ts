import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sandboxState } from '../../../process/sandbox.ts'
import { openDesk } from './desk.ts'

const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`sandboxed runs are not tested: ${sandbox.reason}; install bubblewrap`)
const secret = 'outside-secret'

let root: string
let workspace: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'assay-desk-')))
  workspace = join(root, 'work')
  mkdirSync(workspace)
  writeFileSync(join(root, 'secret.txt'), secret)
  mkdirSync(join(root, 'away'))
  writeFileSync(join(root, 'away', 'secret.txt'), secret)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const never = new AbortController().signal
async function call(
  tool: string,
  input: unknown,
  kept: { hidden?: string[]; readOnly?: string[] } = {},
): Promise<{ text: string; mistake?: true }> {
  const folder = join(root, 'private')
  mkdirSync(folder, { recursive: true })
  const premises = { configDir: root, killGraceMs: 200, ...kept }
  const desk = openDesk({ workspace, hidden: [], readOnly: [], ...kept }, { premises, workspace, folder: () => folder })
  const doing = desk[tool]?.understand(input)
  if (doing === undefined || 'why' in doing) return { text: doing?.why ?? 'no such tool', mistake: true }
  const answer = await doing(never, 60_000)
  return answer === 'stopped' ? { text: 'stopped' } : answer
}
const put = (path: string, text: string) => {
  mkdirSync(join(workspace, path, '..'), { recursive: true })
  writeFileSync(join(workspace, path), text)
}

describe('paths that lead out', () => {
  beforeEach(() => {
    symlinkSync(join(root, 'secret.txt'), join(workspace, 'link.txt'))
    symlinkSync(join(root, 'away'), join(workspace, 'door'))
    symlinkSync('..', join(workspace, 'up'))
    symlinkSync(join(root, 'absent.txt'), join(workspace, 'dangling.txt'))
    execFileSync('mkfifo', [join(workspace, 'pipe')])
    mkdirSync(join(workspace, 'folder'))
  })
  const paths = [
    'link.txt',
    'door/secret.txt',
    'up/secret.txt',
    '../secret.txt',
    'folder/../../secret.txt',
    'dangling.txt',
    'pipe',
    'folder',
    '',
    '.',
    'a\0b',
    `${'x/'.repeat(3000)}y`,
  ]

  it.each([...paths, 'ABSOLUTE'])('%j: nothing is read, written or edited there', async (given) => {
    const path = given === 'ABSOLUTE' ? join(root, 'secret.txt') : given
    for (const [tool, input] of [
      ['read_file', { path }],
      ['write_file', { path, content: 'changed' }],
      ['edit_file', { path, old: secret, new: 'changed' }],
    ] as const) {
      const answer = await call(tool, input)
      expect(answer.mistake).toBe(true)
      expect(answer.text).not.toContain(secret)
    }
    expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe(secret)
    expect(readFileSync(join(root, 'away', 'secret.txt'), 'utf8')).toBe(secret)
    expect(readdirSync(root).sort()).toEqual(['away', 'private', 'secret.txt', 'work'])
    expect(readdirSync(join(root, 'away'))).toEqual(['secret.txt'])
    expect(readdirSync(workspace).sort()).toEqual(['dangling.txt', 'door', 'folder', 'link.txt', 'pipe', 'up'])
  })

  it.each(['door', 'up', '..', '/'])('list and grep find nothing below %s', async (path) => {
    for (const answer of [await call('list', { path }), await call('grep', { path, pattern: 'secret' })]) {
      expect(answer).toMatchObject({ mistake: true })
      expect(answer.text).not.toContain('secret.txt')
    }
  })

  it('list and grep pass links and pipes by', async () => {
    put('plain.txt', 'plain secret')
    expect((await call('list', {})).text).toContain('link.txt\tnot a plain file')
    const found = await call('grep', { pattern: 'secret' })
    expect(found.text).toContain('plain.txt:1: plain secret')
    expect(found.text).not.toContain(secret)
  })
})

describe('files that are kept', () => {
  it('inside the workspace: hidden ones are not seen, protected ones not changed', async () => {
    put('.assay/assay.db', secret)
    put('assay.yaml', 'policy')
    const kept = { hidden: [join(workspace, '.assay')], readOnly: [join(workspace, 'assay.yaml')] }
    expect(await call('read_file', { path: '.assay/assay.db' }, kept)).toMatchObject({ mistake: true })
    expect((await call('list', {}, kept)).text).toBe('1 files\nassay.yaml\t6')
    expect(await call('list', { path: '.assay' }, kept)).toMatchObject({ mistake: true })
    expect(await call('write_file', { path: 'assay.yaml', content: '' }, kept)).toMatchObject({ mistake: true })
    expect(await call('write_file', { path: './assay.yaml', content: '' }, kept)).toMatchObject({ mistake: true })
    expect((await call('read_file', { path: 'assay.yaml' }, kept)).text).toContain('policy')
    expect(readFileSync(join(workspace, 'assay.yaml'), 'utf8')).toBe('policy')
  })

  it.each([
    '.git/config',
    'sub/.git/hooks/post-checkout',
    'a/b/.GIT/config',
    'sub/.assay/x.js',
    'node_modules/pad/index.js',
    './a//node_modules/x',
  ])('%s is in no snapshot: it is neither made nor changed', async (path) => {
    expect(await call('write_file', { path, content: 'planted' })).toMatchObject({
      mistake: true,
      text: expect.stringContaining('no work'),
    })
    put(path, 'old')
    expect(await call('edit_file', { path, old: 'old', new: 'planted' })).toMatchObject({ mistake: true })
    expect(readFileSync(join(workspace, path), 'utf8')).toBe('old')
  })

  it('a hard link is replaced, so that its other name keeps its content', async () => {
    linkSync(join(root, 'secret.txt'), join(workspace, 'hard.txt'))
    await call('write_file', { path: 'hard.txt', content: 'mine' })
    expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe(secret)
    expect(readFileSync(join(workspace, 'hard.txt'), 'utf8')).toBe('mine')
  })
})

describe('files', () => {
  it('are written with the folders on their way, keep their mode, and leave no drafts', async () => {
    expect(await call('write_file', { path: 'a/b/run.sh', content: '#!/bin/sh\n' })).toEqual({ text: 'created: a/b/run.sh, 10 bytes' })
    chmodSync(join(workspace, 'a/b/run.sh'), 0o755)
    expect((await call('write_file', { path: 'a/b/run.sh', content: 'x' })).text).toContain('replaced')
    expect(statSync(join(workspace, 'a/b/run.sh')).mode & 0o777).toBe(0o755)
    expect(readdirSync(join(workspace, 'a/b'))).toEqual(['run.sh'])
  })

  it('are edited where exactly one place matches, byte for byte', async () => {
    put('crlf.txt', 'one\r\ntwo\r\ntwo\r\n<<<<<<< $& three\r\n')
    expect((await call('edit_file', { path: 'crlf.txt', old: 'two', new: '2' })).text).toContain('more than once')
    expect((await call('edit_file', { path: 'crlf.txt', old: 'two\n', new: '2' })).text).toContain('does not stand')
    expect(await call('edit_file', { path: 'crlf.txt', old: '<<<<<<< $& three', new: "$'$&$1" })).toEqual({
      text: 'changed: crlf.txt, at line 4',
    })
    expect(readFileSync(join(workspace, 'crlf.txt'), 'utf8')).toBe("one\r\ntwo\r\ntwo\r\n$'$&$1\r\n")
  })

  it('that are no text, or too large, are named and left alone', async () => {
    writeFileSync(join(workspace, 'latin.txt'), Buffer.from([0x66, 0xfc, 0x72]))
    writeFileSync(join(workspace, 'nul.bin'), 'a\0b')
    writeFileSync(join(workspace, 'large.txt'), 'x'.repeat(9 * 1024 * 1024))
    for (const [path, why] of [
      ['latin.txt', 'is no text'],
      ['nul.bin', 'is no text'],
      ['large.txt', 'more than'],
    ] as const) {
      expect(await call('read_file', { path })).toMatchObject({ mistake: true, text: expect.stringContaining(why) })
      expect(await call('edit_file', { path, old: 'x', new: 'y' })).toMatchObject({ mistake: true })
    }
  })

  it('are shown in bounded pieces', async () => {
    put('long.txt', `${'line\n'.repeat(5_000)}`)
    put('wide.txt', 'w'.repeat(100_000))
    expect((await call('read_file', { path: 'long.txt' })).text).toMatch(/^lines 1 to 400 of 5001\n1\tline\n/)
    expect((await call('read_file', { path: 'long.txt', from: 4_999, lines: 10 })).text).toBe(
      'lines 4999 to 5001 of 5001\n4999\tline\n5000\tline\n5001\t',
    )
    expect((await call('read_file', { path: 'wide.txt' })).text).toMatch(/\[76000 more characters\]$/)
    expect((await call('read_file', { path: 'long.txt', from: 9_000 })).text).toContain('none from 9000 on')
  })

  it('are found by folder, glob and pattern, with a bound on all of it', async () => {
    for (let at = 0; at < 600; at += 1) put(`many/${String(at).padStart(3, '0')}.ts`, `const n${at} = ${at}\n`)
    put('node_modules/dep/index.js', 'dep')
    const all = await call('list', {})
    expect(all.text).toMatch(/^500 files.*\(there are more: narrow it down\)/)
    expect((await call('list', { glob: 'many/00?.ts' })).text.split('\n')).toHaveLength(11)
    expect((await call('grep', { pattern: 'n(59[0-9]) = 5', path: 'many' })).text.split('\n')).toHaveLength(11)
    expect((await call('list', { path: 'node_modules' })).text).toContain('node_modules/dep/index.js\t3')
    expect((await call('grep', { pattern: '(a' })).text).toContain('not a pattern')
  })
})

describe('run', () => {
  it('shows what a program does, in its folder and without the environment', async () => {
    process.env.DESK_CANARY = 'canary-7'
    try {
      const answer = await call('run', { argv: ['sh', '-c', 'pwd; env; echo bad >&2; exit 3'] })
      expect(answer.text).toMatch(/^exit code 3\nstandard output:\n/)
      expect(answer.text).toContain(`${workspace}\n`)
      expect(answer.text).toContain('standard error:\nbad')
      expect(answer.text).not.toContain('canary-7')
    } finally {
      delete process.env.DESK_CANARY
    }
  })

  it('bounds time and output, and says what cannot be started', async () => {
    expect((await call('run', { argv: ['sleep', '600'], seconds: 1 })).text).toContain('ended after its time limit of 1 s')
    const flood = await call('run', { argv: ['sh', '-c', 'yes | head -c 1000000'] })
    expect(flood.text).toContain('bytes left out')
    expect(flood.text.length).toBeLessThan(20_000)
    expect((await call('run', { argv: ['absent-program-7'] })).text).toContain('could not be started: absent-program-7 is not found')
    expect((await call('run', { argv: ['true'] })).text).toBe('exit code 0, nothing was printed')
  })

  it.skipIf(!sandbox.usable)('cannot write outside the workspace', async () => {
    await call('run', { argv: ['sh', '-c', `echo x > ${join(root, 'secret.txt')}; echo y > inside`] })
    expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe(secret)
    expect(existsSync(join(workspace, 'inside'))).toBe(true)
  })
})
