import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { killOrphans } from './census/members.ts'
import { buildEnv } from './environment.ts'
import type { RunRequest } from './process.ts'
import { runProcess } from './run.ts'
import { sandboxState } from './sandbox.ts'

/** What depends on the process that runs others: its environment, its descriptors, its memory, its death. Each test has one of its own. */
const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`sandboxed runs are not tested: ${sandbox.reason}; install bubblewrap`)

let folder: string
const started: ChildProcess[] = []
beforeEach(() => {
  // Not below /tmp: a sandboxed process has one of its own.
  folder = mkdtempSync('/var/tmp/assay-runtime-')
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  killOrphans()
  rmSync(folder, { recursive: true, force: true })
})

const request = (script: string, more: Partial<RunRequest> = {}): RunRequest => ({
  argv: ['sh', '-c', script],
  cwd: folder,
  env: { PATH: '/usr/bin:/bin' },
  timeoutMs: 60_000,
  maxOutputBytes: 100_000,
  killGraceMs: 300,
  ...more,
})

/** A Node process that runs one request and prints its ending and how much its memory has grown. */
function runtime(run: RunRequest, env: Record<string, string> = {}, stdio: (number | 'pipe' | 'ignore')[] = []): ChildProcess {
  const code = `
    const { runProcess } = await import(${JSON.stringify(new URL('./run.ts', import.meta.url).href)})
    const request = ${JSON.stringify(run)}
    await runProcess({ ...request, argv: ['true'] })
    globalThis.gc()
    const before = process.memoryUsage().rss
    let most = before
    const watch = setInterval(() => { most = Math.max(most, process.memoryUsage().rss) }, 20)
    const ending = await runProcess(request)
    clearInterval(watch)
    console.log(JSON.stringify({ ending, grown: Math.max(most, process.memoryUsage().rss) - before }))`
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', code], {
    env: { ...buildEnv(), ...env },
    stdio: ['ignore', 'pipe', 'inherit', ...stdio],
  })
  started.push(child)
  return child
}

async function answer(child: ChildProcess): Promise<{ ending: { kind: string; stdout: string; stdoutCut: boolean }; grown: number }> {
  let text = ''
  child.stdout?.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  return JSON.parse(text)
}

const beat = 'while :; do echo x >> beat; sleep 0.05; done'
const beats = (): number => (existsSync(join(folder, 'beat')) ? readFileSync(join(folder, 'beat')).length : 0)
async function beatsGoOn(): Promise<boolean> {
  const before = beats()
  await sleep(500)
  return beats() > before
}

describe('the process that runs others', () => {
  it('does not grow with what they print', async () => {
    const { ending, grown } = await answer(runtime(request('head -c 200000000 /dev/zero; head -c 200000000 /dev/zero >&2')))
    expect(ending).toMatchObject({ kind: 'exited', stdoutCut: true, stderrCut: true })
    expect(ending.stdout).toContain(`${200_000_000 - 100_000} bytes left out`)
    expect(grown).toBeLessThan(100_000_000)
  })

  it('hands on neither its environment nor what it was started with open', async () => {
    writeFileSync(join(folder, 'secret'), 'canary-file')
    const fd = openSync(join(folder, 'secret'), 'r')
    // Node closes the low ones itself; it stops looking after a gap.
    const stdio = [fd, ...Array.from({ length: 36 }, () => 'ignore' as const), fd]
    const child = runtime(request('env; cat <&3; ls -l /proc/self/fd; true'), { CANARY: 'canary-env', GIT_DIR: 'canary-git' }, stdio)
    closeSync(fd)
    const { ending } = await answer(child)
    expect(ending.kind).toBe('exited')
    expect(ending.stdout).toContain('PATH=')
    expect(ending.stdout).toContain('40 -> /dev/null')
    expect(ending.stdout).not.toMatch(/canary|secret/)
  })

  it.skipIf(!sandbox.usable)('cannot be looked into from a sandbox', async () => {
    const look = 'cat /proc/[0-9]*/environ | tr "\\0" "\\n"; echo; ls -d /proc/[0-9]*'
    const open = await answer(runtime(request(look), { CANARY: 'canary-env' }))
    expect(open.ending.stdout).toContain('canary-env')
    const closed = await answer(runtime(request(look, { sandbox: { writable: [folder] } }), { CANARY: 'canary-env' }))
    expect(closed.ending.stdout).toContain('/proc/1\n')
    expect(closed.ending.stdout).not.toContain('canary-env')
  })

  it.skipIf(!sandbox.usable)('takes sandboxed processes with it when it is killed', async () => {
    const child = runtime(request(`setsid sh -c '${beat}' & ${beat}`, { sandbox: { writable: [folder] } }))
    while (beats() === 0) await sleep(20)
    child.kill('SIGKILL')
    await once(child, 'exit')
    // The sandbox is ended by the system, which takes its time on a busy machine; what had outlived it would beat for ever.
    await expect.poll(beatsGoOn, { timeout: 10_000 }).toBe(false)
  })

  it('leaves others behind when it is killed, and they are found and ended later', async () => {
    // Any other Assay that starts on this machine meanwhile may find them first; then it is tried again.
    let found = 0
    for (let tries = 0; found < 2 && tries < 20; tries++) {
      const child = runtime(request(`setsid sh -c '${beat}' & ${beat}`))
      const earlier = beats()
      while (beats() === earlier) await sleep(20)
      child.kill('SIGKILL')
      await once(child, 'exit')
      if (await beatsGoOn()) found = killOrphans()
    }
    expect(found).toBeGreaterThanOrEqual(2)
    await sleep(200)
    expect(await beatsGoOn()).toBe(false)
  })

  it('does not take processes of a living runtime for orphans', async () => {
    const stop = new AbortController()
    const ending = runProcess(request(beat, { signal: stop.signal }))
    while (beats() === 0) await sleep(20)
    killOrphans()
    expect(await beatsGoOn()).toBe(true)
    stop.abort()
    expect(await ending).toMatchObject({ kind: 'stopped' })
  })
})

describe.skipIf(!sandbox.usable)('files in a sandbox', () => {
  const run = (script: string, sandboxRequest: NonNullable<RunRequest['sandbox']>, cwd = folder) =>
    runProcess(request(script, { cwd, sandbox: sandboxRequest }))

  it('can be written where that is allowed and nowhere else', async () => {
    const other = mkdtempSync(join(tmpdir(), 'assay-other-'))
    try {
      const ending = await run(`echo 1 > mine; echo 2 > ${other}/theirs; echo 3 > /etc/assay-test; echo 4 > /dev/null; echo done`, {
        writable: [folder],
      })
      expect(ending).toMatchObject({
        kind: 'exited',
        stdout: 'done\n',
        stderr: expect.stringMatching(/theirs: Directory nonexistent.*\n.*assay-test: Read-only/),
      })
      expect(existsSync(join(folder, 'mine'))).toBe(true)
      expect(existsSync(join(other, 'theirs'))).toBe(false)
    } finally {
      rmSync(other, { recursive: true, force: true })
    }
  })

  it.each(['readable', 'writable'] as const)('are hidden, but for a workspace inside, with the rest %s', async (elsewhere) => {
    const hidden = join(folder, '.assay')
    const workspace = join(hidden, 'work', 't1')
    mkdirSync(workspace, { recursive: true })
    writeFileSync(join(hidden, 'assay.db'), 'journal')
    writeFileSync(join(folder, 'token'), 'token')
    const look = `cat ../../assay.db ../../../token; umount ../..; cat ../../assay.db; echo fake > ../../assay.db
      echo work > made; echo > ../../../outside; ls -A ..`
    const ending = await run(look, { writable: [workspace], elsewhere, hidden: [hidden, join(folder, 'token')] }, workspace)
    expect(ending).toMatchObject({ kind: 'exited', code: 0, stdout: 't1\n' })
    expect(readFileSync(join(hidden, 'assay.db'), 'utf8')).toBe('journal')
    expect(existsSync(join(workspace, 'made'))).toBe(true)
    expect(existsSync(join(folder, 'outside'))).toBe(elsewhere === 'writable')
  })

  it('can be read and not written where that is asked for inside what is writable', async () => {
    const snapshot = join(folder, 'snapshot')
    mkdirSync(snapshot)
    writeFileSync(join(snapshot, 'work'), 'as it was')
    const ending = await run(
      'cat work; echo changed > work; echo new > new; echo out > ../out',
      { writable: [folder], readOnly: [snapshot] },
      snapshot,
    )
    expect(ending).toMatchObject({ kind: 'exited', code: 0, stdout: 'as it was' })
    expect(readFileSync(join(snapshot, 'work'), 'utf8')).toBe('as it was')
    expect(existsSync(join(snapshot, 'new'))).toBe(false)
    expect(existsSync(join(folder, 'out'))).toBe(true)
  })

  it('prove that nothing ran where the program itself is hidden', async () => {
    const hidden = join(folder, 'hidden')
    mkdirSync(hidden)
    writeFileSync(join(hidden, 'tool'), `#!/bin/sh\ntouch ${folder}/ran\n`, { mode: 0o755 })
    const ending = await runProcess(request('', { argv: [join(hidden, 'tool')], sandbox: { writable: [folder], hidden: [hidden] } }))
    expect(ending).toMatchObject({ kind: 'not_started', code: 'ESANDBOX', message: expect.stringContaining('No such file') })
    expect(existsSync(join(folder, 'ran'))).toBe(false)
  })
})
