import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { contentsOf, planted, taken, tempFolder } from '../../testing/snapshot-suite/trees.ts'
import { badObjects, outcomeOf, runTake, takeCommand } from './fixtures/run.ts'
import { openSnapshotStore } from './store.ts'

const nobody = 65534
const isRoot = process.getuid?.() === 0

function missing(what: string, works: boolean, how: string): boolean {
  if (!works) console.warn(`skipped: ${what} (${how})`)
  return !works
}

const noMount = missing(
  'a disk that is full',
  spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0,
  'needs `unshare` from util-linux and user namespaces',
)
const noStrace = missing(
  'a disk that fails',
  spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0,
  'needs `strace`: apt install strace',
)
const noUser = missing(
  'a user without rights',
  !isRoot ||
    spawnSync(process.execPath, ['-e', `require('fs').readFileSync(${JSON.stringify(takeCommand('', '')[2])})`], { uid: nobody }).status ===
      0,
  'needs this folder to be readable by everybody',
)

describe('a disk that is full', () => {
  it.skipIf(noMount)('is said to be full, holds no half object, and is used again when there is room', () => {
    const disk = join(tempFolder(), 'disk')
    mkdirSync(disk)
    const script = fileURLToPath(new URL('./fixtures/full-disk.ts', import.meta.url))
    const stage = 'mount -t tmpfs -o size=1800k tmpfs "$1" && exec "$2" --disable-warning=ExperimentalWarning "$3" "$1"'
    const ran = spawnSync('unshare', ['-Urm', 'sh', '-c', stage, 'sh', disk, process.execPath, script], { encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    expect(JSON.parse(ran.stdout)).toMatchObject({
      full: { ok: false, problem: { code: 'disk_full' } },
      text: 'disk_full',
      left: { bad: [], unfinished: [] },
      room: true,
      copy: { ok: false, problem: { code: 'disk_full' } },
      copied: true,
      bad: [],
    })
  })
})

/** Runs a take with one system call failing or killing it at its n-th use; the trace says whether it came to that. */
function injected(store: string, root: string, call: string, fault: string, n: number) {
  const trace = join(tempFolder(), 'trace')
  const [program = '', ...args] = [
    'strace',
    '-f',
    '-qq',
    '-o',
    trace,
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${call}:${fault}:when=${n}`,
    ...takeCommand(store, root),
  ]
  // strace counts for each thread apart, so the pool that does the waiting has one.
  const ran = spawnSync(program, args, { encoding: 'utf8', env: { ...process.env, UV_THREADPOOL_SIZE: '1' } })
  const traced = readFileSync(trace, 'utf8')
  return { output: ran.stdout, fired: traced.includes('(INJECTED)') || traced.includes('killed by SIGKILL') }
}

interface Step {
  at: number
  kind: 'fsync' | 'rename'
  from: string
  to: string
}

/** The calls of a trace in the order in which they came back; a call that was overtaken by another thread shows in two lines. */
function stepsOf(trace: string): Step[] {
  const open = new Map<string, string>()
  const steps: Step[] = []
  for (const line of trace.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) open.set(thread, rest)
    const call = rest.startsWith('<...') ? (open.get(thread) ?? '') : rest
    if (rest.endsWith('<unfinished ...>') || !line.endsWith('= 0')) continue
    const synced = /^fsync\(\d+<(.+?)>/.exec(call)
    const renamed = /^rename\("(.+?)", "(.+?)"/.exec(call)
    if (synced) steps.push({ at: steps.length, kind: 'fsync', from: '', to: synced[1] ?? '' })
    if (renamed) steps.push({ at: steps.length, kind: 'rename', from: renamed[1] ?? '', to: renamed[2] ?? '' })
  }
  return steps
}

describe('a disk that fails', () => {
  const tree = { small: 'small', 'f/large': Buffer.alloc(300_000, 1) }

  it.skipIf(noStrace)(
    'at any fsync makes the take fail, and the next one works',
    async () => {
      const root = planted(tree)
      let fired = 0
      for (let n = 1; n <= 60; n++) {
        const folder = join(tempFolder(), 'objects')
        const run = injected(folder, root, 'fsync', 'error=EIO', n)
        if (!run.fired) break
        fired += 1
        expect(outcomeOf(run.output).problem?.code).toBe('io')
        expect(badObjects(folder).bad).toEqual([])
        await taken(openSnapshotStore({ folder }), root)
        expect(badObjects(folder)).toEqual({ count: 3, bad: [] })
      }
      // At least: two objects and the manifest, their folders, and the folder of those.
      expect(fired).toBeGreaterThanOrEqual(8)
      expect(fired).toBeLessThan(60)
    },
    240_000,
  )

  it.skipIf(noStrace)('is told to keep every object before it has a name, and every name before anything relies on it', () => {
    const folder = join(tempFolder(), 'objects')
    const trace = join(tempFolder(), 'trace')
    const args = ['-f', '-qq', '-y', '-o', trace, '-e', 'trace=fsync,rename', ...takeCommand(folder, planted(tree))]
    const { digest = '' } = outcomeOf(spawnSync('strace', args, { encoding: 'utf8' }).stdout)
    const steps = stepsOf(readFileSync(trace, 'utf8'))
    const named = steps.filter((step) => step.kind === 'rename')
    expect(named).toHaveLength(3)
    expect(named.at(-1)?.to).toBe(join(folder, digest.slice(7, 9), digest.slice(9)))
    for (const { at, from, to } of named) {
      const synced = (path: string, after: number, before: number) =>
        steps.some((step) => step.kind === 'fsync' && step.to === path && step.at > after && step.at < before)
      expect(synced(from, -1, at)).toBe(true)
      const reliedOn = named.at(-1)?.at === at ? steps.length : (named.at(-1)?.at ?? 0)
      expect(synced(dirname(to), at, reliedOn)).toBe(true)
      expect(synced(folder, at, reliedOn)).toBe(true)
    }
  })

  it.skipIf(noStrace)(
    'under a process killed before any rename leaves nothing half done',
    async () => {
      const root = planted(tree)
      let fired = 0
      for (let n = 1; n <= 20; n++) {
        const folder = join(tempFolder(), 'objects')
        const run = injected(folder, root, 'rename', 'signal=SIGKILL', n)
        if (!run.fired) break
        fired += 1
        expect(run.output).not.toContain('digest')
        expect(badObjects(folder).bad).toEqual([])
        await taken(openSnapshotStore({ folder }), root)
        expect(badObjects(folder)).toEqual({ count: 3, bad: [] })
      }
      expect(fired).toBeGreaterThanOrEqual(3)
      expect(fired).toBeLessThan(20)
    },
    240_000,
  )
})

describe('a user without rights', () => {
  it.skipIf(noUser)('has what it may not read named', () => {
    const ground = tempFolder()
    const root = join(ground, 'root')
    const store = join(ground, 'objects')
    mkdirSync(join(root, 'closed'), { recursive: true })
    mkdirSync(join(root, 'listed'), { recursive: true })
    writeFileSync(join(root, 'secret'), 'x')
    writeFileSync(join(root, 'closed/x'), 'x')
    writeFileSync(join(root, 'listed/x'), 'x')
    symlinkSync('x', join(root, 'listed/link'))
    mkdirSync(store)
    for (const [path, mode] of [
      ['secret', 0],
      ['closed', 0],
      ['listed', 0o444],
    ] as const)
      chmodSync(join(root, path), mode)
    chmodSync(ground, 0o755)
    chmodSync(store, 0o777)
    const outcome = runTake(store, root, [], isRoot ? nobody : undefined)
    expect(outcome.refused).toEqual([
      { path: 'closed', why: 'unreadable folder' },
      { path: 'listed/link', why: expect.stringContaining('symbolic link to') },
      { path: 'listed/x', why: 'unreadable' },
      { path: 'secret', why: 'unreadable' },
    ])
  })

  it.skipIf(noUser)('gets a problem, not a snapshot, from a store it may not write to', () => {
    const ground = tempFolder()
    const store = join(ground, 'objects')
    mkdirSync(store)
    chmodSync(ground, 0o755)
    chmodSync(store, 0o555)
    const root = planted({ a: 'x' })
    chmodSync(root, 0o755)
    expect(runTake(store, root, [], isRoot ? nobody : undefined).problem).toMatchObject({
      code: 'io',
      message: expect.stringContaining('EACCES'),
    })
    expect(contentsOf(store)).toEqual({})
  })
})
