import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findOldNode } from './front-door/old-node.ts'

const repository = join(import.meta.dirname, '..')

/** An entry that does what its arguments say, in the place where the published package has its entry. */
const entry = `
export async function main(argv) {
  const [what, ...rest] = argv
  const report = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
  if (what === 'facts') report({ pid: process.pid, rest, env: Object.keys(process.env), exec: process.execPath })
  if (what === 'exit') return Number(rest[0])
  if (what === 'die') process.kill(process.pid, rest[0])
  if (what === 'echo') for await (const chunk of process.stdin) process.stdout.write(chunk)
  if (what === 'warn') {
    process.emitWarning('shiny', 'ExperimentalWarning')
    process.emitWarning('rusty', 'DeprecationWarning')
  }
  if (what === 'wait') {
    const heard = []
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']) process.on(signal, () => heard.push(signal))
    report({ pid: process.pid })
    const stop = AbortSignal.timeout(60000)
    while (heard.length === 0 && !stop.aborted) await new Promise((go) => setTimeout(go, 20))
    await new Promise((go) => setTimeout(go, 600))
    report({ heard })
    return 42
  }
  return 0
}
`
/** Makes the Node at hand look like one without SQLite, so that the launcher hands over. Its child is not touched. */
const pretendOld = "Object.defineProperty(process, 'versions', { value: { ...process.versions, sqlite: undefined } })\n"

let home: string
let running: ChildProcess[] = []
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'assay-launcher-'))
  mkdirSync(join(home, 'cli'))
  cpSync(join(repository, 'bin'), join(home, 'bin'), { recursive: true })
  writeFileSync(join(home, 'cli', 'main.js'), entry)
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(home, 'old.cjs'), pretendOld)
  symlinkSync(join(repository, 'node_modules'), join(home, 'node_modules'), 'dir')
})
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running = []
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

function start(node: string[], args: string[], at = home): ChildProcess & { text(): string; errors(): string } {
  const [file = '', ...flags] = node
  const child = spawn(file, [...flags, join(at, 'bin', 'assay.mjs'), ...args], { stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  running.push(child)
  let text = ''
  let errors = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk))
  return Object.assign(child, { text: () => text, errors: () => errors })
}

async function run(node: string[], args: string[], options: { at?: string; input?: string } = {}) {
  const child = start(node, args, options.at)
  child.stdin?.end(options.input ?? '')
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code, signal, stdout: child.text(), stderr: child.errors(), pid: child.pid }
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const stop = AbortSignal.timeout(50_000)
  while (!condition()) {
    if (stop.aborted) throw new Error(`waited in vain until ${what}`)
    await sleep(20)
  }
}

/** A process that ended but was not collected by its parent is not alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
  const stat = `/proc/${pid}/stat`
  return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, 'latin1'))
}

async function startWaiting(node: string[]) {
  const launcher = start(node, ['wait'])
  await until('the entry waits', () => launcher.text().includes('\n'))
  const { pid } = JSON.parse(launcher.text()) as { pid: number }
  return { launcher, pid }
}

const good = [process.execPath]
const oldNode = findOldNode()
if (!oldNode) console.warn('launcher: no Node below 22 in PATH; the hand-over is tested with a Node that pretends to be old')

describe('on a Node that is good enough', () => {
  it('runs the entry in the same process', async () => {
    const { code, stdout, pid } = await run(good, ['facts', 'a b', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ pid, rest: ['a b', '--json'] })
  })

  it('gives back the code and drops warnings about experimental features only', async () => {
    expect((await run(good, ['exit', '3'])).code).toBe(3)
    const { stderr } = await run(good, ['warn'])
    expect(stderr).not.toContain('shiny')
    expect(stderr).toContain('rusty')
  })

  it('runs the source of a repository without a build', async () => {
    const { code, stdout } = await run(good, ['--help'], { at: repository })
    expect(code).toBe(0)
    expect(stdout).toContain('Usage: assay')
  })
})

const olds: [string, () => string[]][] = [['a Node that pretends to be old', () => [process.execPath, '-r', join(home, 'old.cjs')]]]
if (oldNode) olds.push([`the machine's own Node, ${oldNode}`, () => [oldNode]])

describe.each(olds)('on %s', (_, node) => {
  it('hands over to the Node that came along, with arguments and input', async () => {
    const facts = await run(node(), ['facts', 'a b', '--json'])
    const { pid, rest, env, exec } = JSON.parse(facts.stdout) as { pid: number; rest: string[]; env: string[]; exec: string }
    expect(pid).not.toBe(facts.pid)
    expect(rest).toEqual(['a b', '--json'])
    expect(exec).toMatch(/node_modules.node-/)
    expect(env).not.toContain('ASSAY_LAUNCHED')
    expect(env).not.toContain('NODE_CHANNEL_FD')
    expect((await run(node(), ['echo'], { input: 'over there' })).stdout).toBe('over there')
  })

  it('mirrors exit codes and deadly signals', async () => {
    for (const code of [0, 1, 2, 3, 130]) expect(await run(node(), ['exit', String(code)])).toMatchObject({ code, signal: null })
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL']) expect(await run(node(), ['die', signal])).toMatchObject({ code: null, signal })
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const)('passes %s on', async (signal) => {
    const { launcher, pid } = await startWaiting(node())
    expect(launcher.kill(signal)).toBe(true)
    const [code] = (await once(launcher, 'close')) as [number]
    expect(code).toBe(42)
    expect(launcher.text()).toContain(`{"heard":["${signal}"]}`)
    expect(isAlive(pid)).toBe(false)
  })

  it('lets the entry hear one Ctrl-C once, though the terminal tells the whole group', async () => {
    const { launcher } = await startWaiting(node())
    process.kill(-(launcher.pid ?? Number.NaN), 'SIGINT')
    await once(launcher, 'close')
    expect(launcher.text()).toContain('{"heard":["SIGINT"]}')
  })

  it('leaves no child behind when it is killed', async () => {
    const { launcher, pid } = await startWaiting(node())
    expect(isAlive(pid)).toBe(true)
    process.kill(launcher.pid ?? Number.NaN, 'SIGKILL')
    await until('the child is gone', () => !isAlive(pid))
    expect(launcher.text()).not.toContain('heard')
  })

  it('says in one line what to install when no Node came along, or it does not start', async () => {
    const bare = mkdtempSync(join(tmpdir(), 'assay-bare-'))
    try {
      cpSync(join(home, 'bin'), join(bare, 'bin'), { recursive: true })
      const refusal = {
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^assay: needs Node \^22\.23 or >=24\.15 \(this is v.*\)\. Install .*\n$/),
      }
      expect(await run(node(), ['--help'], { at: bare })).toMatchObject(refusal)
      const broken = join(bare, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin')
      mkdirSync(broken, { recursive: true })
      writeFileSync(join(broken, 'node'), 'not a program')
      chmodSync(join(broken, 'node'), 0o644)
      expect(await run(node(), ['--help'], { at: bare })).toMatchObject(refusal)
    } finally {
      rmSync(bare, { recursive: true, force: true })
    }
  })
})
