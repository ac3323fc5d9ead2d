import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildEnv } from './environment.ts'
import type { ProcessEnding, RunRequest } from './process.ts'
import { runProcess } from './run.ts'
import { sandboxState } from './sandbox.ts'

const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`sandboxed runs are not tested: ${sandbox.reason}; install bubblewrap`)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-process-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const modes = [
  { mode: 'without a sandbox', sandboxed: false },
  { mode: 'in a sandbox', sandboxed: true },
]

/** A process that left its parent, group and session, and says that it lives by writing. The script goes on once it does. */
const escapee = `( setsid sh -c 'trap "" TERM HUP INT; while :; do echo x >> beat; sleep 0.05; done' & ) >/dev/null 2>&1
while [ ! -s beat ]; do sleep 0.02; done`

async function beatsGoOn(): Promise<boolean> {
  const length = () => readFileSync(join(folder, 'beat')).length
  const before = length()
  expect(before).toBeGreaterThan(0)
  await sleep(400)
  return length() > before
}

/** Processes whose command line holds a text; sandboxed ones are seen from outside too. */
function running(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
    } catch {
      return false
    }
  })
}

describe.each(modes)('a process $mode', ({ sandboxed }) => {
  const run = (argv: string[], more: Partial<RunRequest> = {}): Promise<ProcessEnding> =>
    runProcess({
      argv,
      cwd: folder,
      env: buildEnv(),
      timeoutMs: 30_000,
      maxOutputBytes: 100_000,
      killGraceMs: 300,
      ...(sandboxed ? { sandbox: { writable: [folder] } } : {}),
      ...more,
    })
  const sh = (script: string, more: Partial<RunRequest> = {}): Promise<ProcessEnding> => run(['sh', '-c', script], more)
  const test = it.skipIf(sandboxed && !sandbox.usable)

  test('ends with its code and its output', async () => {
    const ending = await sh('echo out; echo err >&2; exit 3')
    expect(ending).toMatchObject({
      kind: 'exited',
      code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      stdoutCut: false,
      stderrCut: false,
      survivors: 0,
    })
    expect(ending).toMatchObject({ sandboxed })
    expect(await sh('exit 0')).toMatchObject({ kind: 'exited', code: 0, stdout: '', stderr: '' })
  })

  test('ends by a signal', async () => {
    expect(await sh('kill -9 $$')).toMatchObject({ kind: 'signalled', signal: 'SIGKILL' })
    expect(await sh('kill -SEGV $$')).toMatchObject({ kind: 'signalled', signal: 'SIGSEGV' })
  })

  test('is asked to end at its deadline before it is made to', async () => {
    const ending = await sh('trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done', {
      timeoutMs: 1_500,
      killGraceMs: 20_000,
    })
    expect(ending).toMatchObject({ kind: 'timed_out', timeoutMs: 1_500, survivors: 0 })
    expect('stdout' in ending && ending.stdout).toBe('ready\nbye\n')
  })

  test('is killed where it ignores the request', async () => {
    const ending = await sh(`trap "" TERM; echo ready; while :; do sleep 0.05; done # ${folder}`, { timeoutMs: 1_000 })
    expect(ending).toMatchObject({ kind: 'timed_out', stdout: 'ready\n', survivors: 0 })
    expect(running(folder)).toEqual([])
  })

  test.each([
    { how: 'ends by itself', end: 'exit 0', more: {}, kind: 'exited' },
    { how: 'fails', end: 'exit 7', more: {}, kind: 'exited' },
    { how: 'crashes', end: 'kill -9 $$', more: {}, kind: 'signalled' },
    { how: 'is timed out', end: 'sleep 600', more: { timeoutMs: 1_500 }, kind: 'timed_out' },
  ])('leaves no double-forked child in a session of its own when it $how', async ({ end, more, kind }) => {
    expect(await sh(`${escapee}\n${end}`, more)).toMatchObject({ kind, survivors: 0 })
    expect(await beatsGoOn()).toBe(false)
  })

  test('leaves nothing when it is stopped', async () => {
    const stop = new AbortController()
    const ending = sh(`${escapee}\nsleep 600`, { signal: stop.signal })
    while (!existsSync(join(folder, 'beat'))) await sleep(10)
    stop.abort()
    expect(await ending).toMatchObject({ kind: 'stopped', survivors: 0 })
    expect(await beatsGoOn()).toBe(false)
  })

  test('does not start when it is stopped before', async () => {
    expect(await sh('touch started', { signal: AbortSignal.abort() })).toMatchObject({ kind: 'stopped', stdout: '' })
    expect(existsSync(join(folder, 'started'))).toBe(false)
  })

  test('ends although a child of it holds its output open', async () => {
    const ending = await sh('sleep 600 & echo done')
    expect(ending).toMatchObject({ kind: 'exited', code: 0, stdout: 'done\n', survivors: 0 })
  })

  test('runs on after it has closed its output', async () => {
    expect(await sh('exec >&- 2>&-; sleep 0.3; touch later; exit 4')).toMatchObject({ kind: 'exited', code: 4 })
    expect(existsSync(join(folder, 'later'))).toBe(true)
    expect(await sh('exec >&- 2>&- <&-; sleep 600', { timeoutMs: 500 })).toMatchObject({ kind: 'timed_out' })
  })

  test('gets its input whole, also by name, and need not read it', async () => {
    const text = `Grüße\n${'0123456789'.repeat(300_000)}`
    expect(await sh('wc -c', { stdin: text })).toMatchObject({ stdout: `${Buffer.byteLength(text)}\n` })
    expect(await sh('cat /dev/stdin', { stdin: 'by name' })).toMatchObject({ stdout: 'by name' })
    expect(await sh('exec <&-; echo not read', { stdin: text })).toMatchObject({ kind: 'exited', code: 0, stdout: 'not read\n' })
    // It has no name that others could open, and nobody writes into it.
    expect(await sh('readlink /proc/self/fd/0; echo x >&0 || echo refused', { stdin: 'text' })).toMatchObject({
      stdout: expect.stringMatching(/ \(deleted\)\nrefused\n$/),
    })
    expect(await sh('cat')).toMatchObject({ kind: 'exited', code: 0, stdout: '' })
  })

  test('keeps both ends of more output than the limit', async () => {
    const ending = await sh('echo first; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo last')
    expect(ending).toMatchObject({ kind: 'exited', stdoutCut: true, stderrCut: false })
    const { stdout } = ending as { stdout: string }
    expect(stdout.startsWith('first\nxxx')).toBe(true)
    expect(stdout.endsWith('xxx\nlast\n')).toBe(true)
    expect(stdout).toContain(`[… ${3_000_000 + 12 - 100_000} bytes left out here; at most 100000 are kept …]`)
  })

  test('gets its arguments as they are', async () => {
    const odd = ['$(touch x)', '`touch x`', '; touch x', '-rf', '--', 'two\nlines', '', '*', '"', "'", '\\', 'ü\u202e']
    const ending = await run([process.execPath, '-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', ...odd])
    expect(JSON.parse((ending as { stdout: string }).stdout)).toEqual(odd)
    expect(existsSync(join(folder, 'x'))).toBe(false)
  })

  test('sees the environment that it was given and no more', async () => {
    const ending = await sh('tr "\\0" "\\n" < /proc/self/environ', { env: { PATH: '/usr/bin:/bin', MINE: 'yes' } })
    const names = (ending as { stdout: string }).stdout.match(/^\w+(?==)/gm) ?? []
    expect(names.filter((name) => name !== 'PWD').sort()).toEqual(['ASSAY_RUN_ID', 'MINE', 'PATH'])
  })

  test('is proven not to have started where that is so', async () => {
    writeFileSync(join(folder, 'plain'), 'no program')
    writeFileSync(join(folder, 'lost'), '#!/no/such/interpreter\n')
    chmodSync(join(folder, 'lost'), 0o755)
    const starts: [string[], Partial<RunRequest>, string][] = [
      [['assay-no-such-command'], {}, 'ENOENT'],
      [['./absent'], {}, 'ENOENT'],
      [['./plain'], {}, 'EACCES'],
      [['./lost'], {}, 'ENOENT'],
      [[folder], {}, 'EACCES'],
      [['sh', '-c', 'true'], { cwd: join(folder, 'absent') }, 'ENOENT'],
      [['sh', '-c', 'a\0b'], {}, 'EINVAL'],
      [['sh', '-c', 'x'.repeat(3_000_000)], {}, 'E2BIG'],
      [[], {}, 'ENOENT'],
    ]
    for (const [argv, more, code] of starts) {
      const ending = await run(argv, more)
      expect(ending).toMatchObject({ kind: 'not_started', code, message: expect.stringMatching(/./) })
    }
  })

  test('runs a relative program from the base and works in its own folder', async () => {
    const base = mkdtempSync(join(tmpdir(), 'assay-base-'))
    try {
      writeFileSync(join(base, 'tool.sh'), '#!/bin/sh\npwd; echo made > made.txt\n', { mode: 0o755 })
      expect(await run(['./tool.sh'], { base })).toMatchObject({ kind: 'exited', code: 0, stdout: `${folder}\n` })
      expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('made\n')
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  })
})
