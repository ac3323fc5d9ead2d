import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Digest, sha256Hex } from '../../contract/canonical.ts'
import { CheckReport, type CheckSpec } from '../../contract/check.ts'
import { sandboxState } from '../process/sandbox.ts'
import { withDeadline } from './deadline.ts'
import { openInside } from './inside.ts'
import { type CheckResult, passed } from './result.ts'
import { createCheckRunner } from './runner.ts'

const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`sandboxed checks are not tested: ${sandbox.reason}; install bubblewrap`)

/** `project` has the configuration, `folder` the work under review. */
let project: string
let folder: string
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'assay-checks-'))
  folder = join(project, '.assay', 'copy')
  mkdirSync(folder, { recursive: true })
})
afterEach(() => rmSync(project, { recursive: true, force: true }))

const nothingChanged = {
  changed: [],
  baseFile: async () => undefined,
  keep: async (bytes: Uint8Array): Promise<Digest> => `sha256:${sha256Hex(Buffer.from(bytes).toString('base64'))}`,
}

async function check(spec: CheckSpec, output = '', signal = new AbortController().signal): Promise<CheckReport> {
  const runner = createCheckRunner({
    projectRoot: project,
    timeoutMs: 30_000,
    maxOutputBytes: 20_000,
    maxFileBytes: 1_000_000,
    killGraceMs: 200,
  })
  const report = await runner.run('c1', spec, { folder, output, ...nothingChanged }, signal)
  expect(CheckReport.parse(report)).toEqual(report)
  expect(report).toMatchObject({ id: 'c1', kind: spec.kind, findings: [] })
  return report
}
const command = (script: string, more: object = {}): CheckSpec => ({ kind: 'command', argv: ['sh', '-c', script], ...more })
const write = (path: string, text: string): void => writeFileSync(join(folder, path), text)

describe('a command check', () => {
  it('passes on exit code 0 alone, with the exact output', async () => {
    expect(await check(command('echo fine; echo noise >&2'))).toMatchObject({
      outcome: 'pass',
      output: 'fine\n\n--- standard error ---\nnoise\n',
    })
    expect(await check(command('true'))).toMatchObject({ outcome: 'pass', output: '' })
    expect(await check(command('echo 2 tests failed; exit 1'))).toMatchObject({
      outcome: 'fail',
      summary: 'sh -c echo 2 tests failed; exit 1: exit code 1',
      output: '2 tests failed\n',
    })
  })

  it.each<[string, CheckSpec, RegExp]>([
    ['a signal', command('kill -9 $$'), /ended by SIGKILL/],
    ['a time-out', command('echo begun; sleep 600', { timeout: '1s' }), /time limit of 1000 ms/],
    ['a missing command', { kind: 'command', argv: ['assay-no-such-command'] }, /not found in PATH/],
    ['a missing script', { kind: 'command', argv: ['./check.sh'] }, /relative to/],
    ['a refused variable', command('true', { env: ['LD_PRELOAD'] }), /LD_PRELOAD is never passed/],
    ['a folder outside', command('true', { cwd: '../..' }), /leads out of the workspace/],
  ])('is an error, never a pass, after %s', async (_name, spec, words) => {
    expect(await check(spec)).toMatchObject({ outcome: 'error', summary: expect.stringMatching(words) })
  })

  it('is an error when it is stopped', async () => {
    expect(await check(command('true'), '', AbortSignal.abort())).toMatchObject({
      outcome: 'error',
      summary: expect.stringContaining('stopped'),
    })
    const stop = new AbortController()
    const report = check(command('touch begun; sleep 600'), '', stop.signal)
    while (!existsSync(join(folder, 'begun'))) await sleep(10)
    stop.abort()
    expect(await report).toMatchObject({ outcome: 'error', summary: expect.stringContaining('stopped') })
  })

  it('runs in the work, or in a folder of it that is one', async () => {
    mkdirSync(join(folder, 'sub'))
    symlinkSync('/', join(folder, 'link'))
    write('plain', '')
    expect(await check(command('pwd'))).toMatchObject({ output: `${folder}\n` })
    expect(await check(command('pwd', { cwd: 'sub' }))).toMatchObject({ output: `${join(folder, 'sub')}\n` })
    for (const cwd of ['link', 'link/etc', 'plain', 'absent'])
      expect(await check(command('true', { cwd }))).toMatchObject({ outcome: 'fail' })
  })

  it('finds a relative program beside the configuration, not in the work', async () => {
    writeFileSync(join(project, 'check.sh'), '#!/bin/sh\necho ours\n', { mode: 0o755 })
    writeFileSync(join(folder, 'check.sh'), '#!/bin/sh\necho theirs\n', { mode: 0o755 })
    expect(await check({ kind: 'command', argv: ['./check.sh'] })).toMatchObject({ outcome: 'pass', output: 'ours\n' })
  })

  it('sees named variables and no others', async () => {
    process.env.CHECK_NAMED = 'named-1'
    process.env.CHECK_CANARY = 'canary-1'
    try {
      const report = await check(command('env', { env: ['CHECK_NAMED'] }))
      expect(report.output).toContain('CHECK_NAMED=named-1')
      expect(report.output).not.toContain('canary-1')
    } finally {
      delete process.env.CHECK_NAMED
      delete process.env.CHECK_CANARY
    }
  })

  it('has a folder for temporary files that is gone afterwards', async () => {
    const report = await check(
      command('touch "$TMPDIR/file"; mkdir "$TMPDIR/closed"; touch "$TMPDIR/closed/x"; chmod 0 "$TMPDIR/closed"; printf %s "$TMPDIR"'),
    )
    expect(report.outcome).toBe('pass')
    expect(report.output).toContain('assay-run-')
    expect(existsSync(report.output)).toBe(false)
  })

  it('runs no text of the work', async () => {
    const odd = '$(touch pwned); `touch pwned`'
    write(odd, 'x')
    expect(await check({ kind: 'command', argv: ['ls', '--', odd] })).toMatchObject({ outcome: 'pass', output: `${odd}\n` })
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })

  it.skipIf(!sandbox.usable)('does not see the journal', async () => {
    writeFileSync(join(project, '.assay', 'assay.db'), 'journal')
    const report = await check(command('cat ../assay.db; ls -A ..; echo x > ../assay.db; echo ok > made; cat made'))
    expect(report).toMatchObject({ outcome: 'pass', output: expect.stringMatching(/^copy\nok\n/) })
    expect(report.output).not.toContain('journal')
  })

  it('cuts what it prints and says so', async () => {
    expect((await check(command('head -c 1000000 /dev/zero | tr "\\0" x'))).output).toContain('980000 bytes left out')
  })
})

describe('a file check', () => {
  const file = (path: string, more: object = {}): CheckSpec => ({ kind: 'file', path, ...more })

  it('looks whether a file or folder is there', async () => {
    write('core.txt', 'hello')
    mkdirSync(join(folder, 'sub'))
    for (const path of ['core.txt', './core.txt', 'sub', 'sub/', '.']) expect(await check(file(path))).toMatchObject({ outcome: 'pass' })
    expect(await check(file('absent.txt'))).toMatchObject({ outcome: 'fail', summary: 'absent.txt: it does not exist' })
    expect(await check(file('core.txt/inner'))).toMatchObject({ outcome: 'fail' })
    expect(await check(file('absent.txt', { exists: false }))).toMatchObject({ outcome: 'pass' })
    expect(await check(file('core.txt', { exists: false }))).toMatchObject({ outcome: 'fail' })
  })

  it('looks at its size and content, all of what is asked', async () => {
    write('data.json', '{"name":"a","tags":["x"]}')
    expect(
      await check(
        file('data.json', { minBytes: 5, maxBytes: 100, matches: '"na+me"', jsonSchema: { type: 'object', required: ['name'] } }),
      ),
    ).toMatchObject({ outcome: 'pass' })
    const report = await check(file('data.json', { minBytes: 50, matches: '^x', jsonSchema: { required: ['id'] } }))
    expect(report).toMatchObject({ outcome: 'fail', summary: 'data.json: has 25 bytes; at least 50 are asked for (and 2 more)' })
    expect(report.output.split('\n')).toEqual(['has 25 bytes; at least 50 are asked for', 'does not match ^x', '(root): "id" is missing'])
    expect(await check(file('data.json', { maxBytes: 3 }))).toMatchObject({ outcome: 'fail' })
    // Protected files are restored before the check runs; it has nothing left to do about them.
    expect(await check(file('data.json', { protect: ['test/**'] }))).toMatchObject({ outcome: 'pass' })
  })

  it.each<[string, object]>([
    ['a bad pattern', { matches: '(' }],
    ['a bad schema', { jsonSchema: { format: 'uri' } }],
    ['conditions on what must not exist', { exists: false, matches: 'x' }],
  ])('is an error with %s', async (_name, more) => {
    write('core.txt', '{}')
    expect(await check(file('core.txt', more))).toMatchObject({ outcome: 'error' })
  })

  it('is an error where there is more than may be read', async () => {
    write('big', '')
    truncateSync(join(folder, 'big'), 5_000_000)
    expect(await check(file('big', { matches: 'x' }))).toMatchObject({
      outcome: 'error',
      summary: 'big: it has more than 1000000 bytes, the most that is read',
    })
    expect(await check(file('big', { minBytes: 5_000_000 }))).toMatchObject({ outcome: 'pass' })
  })

  it.each(['../assay.db', '/etc/passwd', 'a/../../x', '..', '', 'x\0y', `${'a/'.repeat(3000)}a`])(
    'is an error with the path %j',
    async (path) => {
      expect(await check(file(path))).toMatchObject({ outcome: 'error' })
      expect(await check(file(path, { exists: false }))).toMatchObject({ outcome: 'error' })
    },
  )

  it('touches no links, pipes or devices', async () => {
    writeFileSync(join(project, 'outside.txt'), 'secret')
    symlinkSync(join(project, 'outside.txt'), join(folder, 'link'))
    symlinkSync(project, join(folder, 'way'))
    symlinkSync('nowhere', join(folder, 'dangling'))
    execFileSync('mkfifo', [join(folder, 'fifo')])
    for (const path of ['link', 'way', 'way/outside.txt', 'dangling', 'fifo']) {
      expect(await check(file(path, { matches: '.' })), path).toMatchObject({ outcome: 'fail' })
      expect(await check(file(path, { exists: false })), path).toMatchObject({ outcome: 'fail' })
      expect(await check({ kind: 'text', path, contains: ['secret'] }), path).toMatchObject({ outcome: 'fail' })
    }
  })

  it('reads nothing from outside while names are exchanged', async () => {
    const outside = join(project, 'outside')
    const inside = join(folder, 'sub')
    for (const place of [outside, inside]) mkdirSync(place)
    writeFileSync(join(outside, 'f'), 'outside')
    writeFileSync(join(inside, 'f'), 'inside')
    const seen: Record<string, number> = {}
    let swapping = true
    const swapper = (async () => {
      for (let round = 0; swapping; round++) {
        renameSync(inside, join(folder, 'kept'))
        symlinkSync(outside, inside)
        await sleep(round % 3)
        rmSync(inside)
        renameSync(join(folder, 'kept'), inside)
        await sleep(round % 2)
      }
    })()
    for (let round = 0; round < 500; round++) {
      const found = await openInside(folder, 'sub/f')
      const what = found.kind === 'file' ? await found.handle.readFile('utf8') : found.kind
      if (found.kind === 'file') await found.handle.close()
      seen[what] = (seen[what] ?? 0) + 1
    }
    swapping = false
    await swapper
    expect(seen.outside).toBe(undefined)
    expect(seen.inside).toBeGreaterThan(0)
    expect(seen.refused).toBeGreaterThan(0)
  })
})

describe('a text check', () => {
  it('looks in a file or in the output', async () => {
    write('core.txt', 'it says hello\nand more')
    const wanted = { contains: ['hello', 'more'], absent: ['TODO'], regex: 'says h.l+o$|(?m)^and' }
    expect(await check({ kind: 'text', path: 'core.txt', ...wanted })).toMatchObject({ outcome: 'pass' })
    expect(await check({ kind: 'text', ...wanted }, 'it says hello\nand more')).toMatchObject({ outcome: 'pass' })
    const report = await check({ kind: 'text', ...wanted }, 'TODO: hello')
    expect(report).toMatchObject({ outcome: 'fail', summary: 'the output: does not contain "more" (and 2 more)' })
    expect(report.output.split('\n')).toHaveLength(3)
  })

  it('fails on a missing file, even for what must be absent', async () => {
    expect(await check({ kind: 'text', path: 'absent.txt', absent: ['x'] })).toMatchObject({ outcome: 'fail' })
  })

  it('is an error where it asks for nothing or for what cannot be', async () => {
    expect(await check({ kind: 'text' })).toMatchObject({ outcome: 'error' })
    expect(await check({ kind: 'text', regex: '[' }, 'x')).toMatchObject({ outcome: 'error' })
  })

  it('shows what cannot be seen', async () => {
    expect((await check({ kind: 'text', absent: ['\u001b[31m\u202e'] }, 'a\u001b[31m\u202eb')).summary).toBe(
      'the output: contains "\\u{1b}[31m\\u{202e}"',
    )
  })
})

describe('a check that takes too long', () => {
  it('is an error, whatever it does afterwards', async () => {
    let finish: () => void = () => undefined
    const slow = new Promise<CheckResult>((resolve) => {
      finish = () => resolve(passed('late'))
    })
    expect(await withDeadline(50, new AbortController().signal, () => slow)).toMatchObject({
      outcome: 'error',
      summary: 'ended after its time limit of 50 ms',
    })
    const stop = new AbortController()
    const stopped = withDeadline(60_000, stop.signal, () => slow)
    stop.abort()
    expect(await stopped).toMatchObject({ outcome: 'error', summary: 'stopped before it ended' })
    finish()
    expect(await withDeadline(60_000, new AbortController().signal, () => slow)).toMatchObject({ outcome: 'pass', summary: 'late' })
  })
})

describe('a browser check', () => {
  it('is an error where the browser of the configuration is not there', async () => {
    const runner = createCheckRunner({
      projectRoot: project,
      timeoutMs: 30_000,
      maxOutputBytes: 20_000,
      chrome: join(project, 'no-browser'),
    })
    write('index.html', '<h1>Bread</h1>')
    const context = { folder, output: '', ...nothingChanged }
    expect(await runner.run('c1', { kind: 'browser', path: 'index.html' }, context, new AbortController().signal)).toMatchObject({
      outcome: 'error',
      summary: expect.stringContaining('no-browser'),
    })
  })
})
