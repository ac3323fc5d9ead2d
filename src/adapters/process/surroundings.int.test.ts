import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildEnv } from './environment.ts'
import type { ProcessEnding, RunRequest } from './process.ts'
import { runProcess } from './run.ts'
import { sandboxState } from './sandbox.ts'

const sandbox = await sandboxState()
if (!sandbox.usable) console.warn(`what a sandboxed process can reach is not tested: ${sandbox.reason}; install bubblewrap`)

/** Says whether somebody answers at a socket, without ever waiting for long. */
const connect = (path: string) =>
  `const s = require('net').connect(${JSON.stringify(path)}); s.on('connect', () => { console.log('REACHED'); process.exit() }).on('error', (e) => console.log(e.code))`

describe.skipIf(!sandbox.usable)('what a sandboxed process can reach', () => {
  let work: string
  let other: string
  let elsewhere: string
  const servers: Server[] = []

  beforeEach(() => {
    work = mkdtempSync('/tmp/assay-reach-work-')
    other = mkdtempSync('/tmp/assay-reach-other-')
    elsewhere = mkdtempSync('/var/tmp/assay-reach-')
  })
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))))
    for (const folder of [work, other, elsewhere]) rmSync(folder, { recursive: true, force: true })
  })

  const listen = async (path: string): Promise<string> => {
    const server = createServer((socket) => socket.end())
    servers.push(server)
    await new Promise<void>((ready) => server.listen(path, ready))
    return path
  }
  const run = (argv: string[], more: Partial<RunRequest> = {}): Promise<ProcessEnding> =>
    runProcess({
      argv,
      cwd: work,
      env: buildEnv(),
      timeoutMs: 30_000,
      maxOutputBytes: 100_000,
      killGraceMs: 300,
      sandbox: { writable: [work] },
      ...more,
    })
  const said = async (ending: Promise<ProcessEnding>): Promise<string> => {
    const ended = await ending
    return 'stdout' in ended ? ended.stdout.trim() : ended.message
  }

  it('is no socket of a person’s programs, wherever it lies', async () => {
    const places = [join(other, 'tmux'), join(elsewhere, 'agent'), join(work, 'editor')]
    for (const place of places) {
      await listen(place)
      expect(await said(run([process.execPath, '-e', connect(place)], { sandbox: undefined as never }))).toBe('REACHED')
      expect(await said(run([process.execPath, '-e', connect(place)]))).toMatch(/^E[A-Z]+$/)
    }
  })

  it('is neither /tmp of others nor /run, and what it leaves in /tmp is gone', async () => {
    writeFileSync(join(other, 'expect'), 'good\n')
    const planted = `/tmp/assay-reach-${process.pid}`
    const script = `ls ${other}; echo bad > ${other}/expect; mkdir -p ${planted}/node_modules && echo made; ls /run; ls /var/run/docker.sock`
    const ending = await run(['sh', '-c', script])
    expect(ending).toMatchObject({ kind: 'exited', code: 2 })
    expect('stdout' in ending && ending.stdout).toMatch(/^made\n(systemd\n|resolvconf\n|nscd\n|current-system\n)*$/)
    expect(readFileSync(join(other, 'expect'), 'utf8')).toBe('good\n')
    expect(existsSync(planted)).toBe(false)
  })

  it('is what its environment and its words name, for reading', async () => {
    const bin = join(other, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'part'), 'of it\n')
    writeFileSync(join(bin, 'tool'), '#!/bin/sh\ncat "$(dirname "$0")/part" "$CERTS"; touch "$(dirname "$0")/x" || echo kept\n')
    chmodSync(join(bin, 'tool'), 0o755)
    writeFileSync(join(other, 'certs'), 'trusted\n')
    const env = buildEnv({ extra: { CERTS: join(other, 'certs') } })
    expect(await said(run([join(bin, 'tool')], { env }))).toBe('of it\ntrusted\nkept')
    const far = ['sh', '-c', 'echo started', `/${'x'.repeat(5_000)}`, '/\u0001', '/etc/passwd/x']
    expect(await said(run(far, { env }))).toBe('started')
    const withPath = { ...env, PATH: `${bin}:${env.PATH}` }
    expect(await said(run(['sh', '-c', 'tool'], { env: withPath }))).toBe('of it\ntrusted\nkept')
  })

  it('is what has been made, or has come to be a link, since the last process was started', async () => {
    const [certs, link] = [join(other, 'certs'), join(elsewhere, 'link')]
    const env = buildEnv({ extra: { CERTS: certs, LINK: link } })
    const read = () => said(run(['sh', '-c', 'cat "$CERTS" "$LINK" 2>/dev/null; echo over'], { env }))
    expect(await read()).toBe('over')
    writeFileSync(certs, 'trusted\n')
    expect(await read()).toBe('trusted\nover')
    symlinkSync(certs, link)
    expect(await read()).toBe('trusted\ntrusted\nover')
  })

  it('is its own workspace, also where the environment names folders in it', async () => {
    const env = buildEnv({ extra: { HOME: join(work, 'home'), TMPDIR: join(work, 'tmp') } })
    for (const name of ['home', 'tmp']) mkdirSync(join(work, name))
    expect(await said(run(['sh', '-c', 'touch "$HOME/a" "$TMPDIR/b" && echo written'], { env }))).toBe('written')
    expect(existsSync(join(work, 'tmp/b'))).toBe(true)
  })

  it('is no right of root but those over files and processes of its own', async () => {
    // chown, dac_override, fowner, fsetid, kill, setgid, setuid: the lowest eight, without dac_read_search. And setfcap, for namespaces.
    const most = 0b1111_1011n | (1n << 31n)
    const rights = (await said(run(['sh', '-c', "sed -n 's/^Cap\\(Prm\\|Eff\\|Amb\\|Inh\\):\\s*//p' /proc/self/status"]))).split('\n')
    expect(rights).toHaveLength(4)
    expect(rights.map((set) => BigInt(`0x${set}`) & ~most)).toEqual([0n, 0n, 0n, 0n])
    if (process.getuid?.() === 0)
      expect(await said(run(['sh', '-c', 'touch a && chown 12345:12345 a && chmod 0 a && cat a && stat -c %u a']))).toBe('12345')
    // What a coding agent that sandboxes its own commands does, where the system lets anybody.
    const namespace = ['unshare', '--user', '--map-root-user', 'echo', 'inside']
    if (spawnSync(namespace[0] ?? '', namespace.slice(1)).status === 0) expect(await said(run(namespace))).toBe('inside')
  })

  it('is of a folder that a program keeps only what is named; what it adds is thrown away', async () => {
    const home = join(elsewhere, 'home')
    mkdirSync(home)
    for (const name of ['login', 'settings', 'AGENTS.md']) writeFileSync(join(home, name), `${name}\n`)
    const kept = [{ folder: home, writable: ['login'], readable: ['settings', 'missing'] }]
    const script = `cd ${home}; ls; echo new > login; echo new > settings; echo new > AGENTS.md; ls`
    const ending = await run(['sh', '-c', script], { sandbox: { writable: [work], kept } })
    expect('stdout' in ending && ending.stdout).toBe('login\nsettings\nAGENTS.md\nlogin\nsettings\n')
    expect(['login', 'settings', 'AGENTS.md'].map((name) => readFileSync(join(home, name), 'utf8'))).toEqual([
      'new\n',
      'settings\n',
      'AGENTS.md\n',
    ])
  })
})
