import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../src/contract/events/envelope.ts'
import { assayCommand, plainEnv, useAssay } from './front-door/assay.ts'
import { crashProject, endsOf, expectedEnds, openTurns } from './front-door/crash-mission.ts'
import { readJournal } from './front-door/journal.ts'
import { noneLeft } from './front-door/processes.ts'
import { parseLines, type Project } from './front-door/project.ts'

const timeout = 300_000
const isRoot = process.getuid?.() === 0
useAssay()

const canMount = spawnSync('unshare', ['--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=64k tmpfs /mnt']).status === 0
if (!canMount) console.warn('skipped: full and read-only disks need `unshare` (package util-linux) and permission for user namespaces')
const canTrace = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0
if (!canTrace) console.warn('skipped: a disk whose sync fails needs `strace` (package strace) and permission to trace')

/** Fails the sync with this number; `n+` fails all from there on. */
const failingSync = (trace: string, when: number | `${number}+`) => [
  ...['strace', '-f', '-qq', '-o', trace, '-e', 'trace=fsync,fdatasync'],
  ...['-e', `inject=fsync,fdatasync:error=EIO:when=${when}`],
]

/** What a failing disk makes a command say: one line, with what to do, and no stack. */
function expectOneLine(stderr: string, says: RegExp): void {
  const own = stderr.split('\n').filter((line) => line.startsWith('assay: '))
  expect(own, stderr).toHaveLength(1)
  expect(own[0]).toMatch(says)
  expect(stderr).not.toMatch(/\n\s+at /)
  expect(stderr.trimEnd().split('\n').at(-1), 'it is the last word').toBe(own[0])
}

type ShownEvent = StoredEvent & { kind: string }

let calm: Promise<ReturnType<typeof endsOf>> | undefined
/** The ends of the same mission on a disk that does not fail. */
function calmEnds(): Promise<ReturnType<typeof endsOf>> {
  calm ??= (async () => {
    const project = crashProject()
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(1)
    return endsOf((await readJournal(project.folder)).rows)
  })()
  return calm
}

/**
 * Runs the mission on a disk of 2 MiB with `free` bytes left, then, with room again, verifies and resumes. All in one mount namespace:
 * the disk is gone with it. Answers are left beside the disk.
 */
async function onSmallDisk(project: Project, free: number): Promise<void> {
  const script = `set -e
mkdir disk; mount -t tmpfs -o size=2m tmpfs disk
cp assay.yaml mission.yaml worker.sh judge.sh disk/; cd disk
left=$(df -k . | awk 'NR == 2 { print $4 * 1024 }')
head -c $((left - ${free})) /dev/zero > ballast
set +e
"$@" run mission.yaml --json > ../run.out 2> ../run.err; echo $? > ../run.code
rm ballast; mount -o remount,size=32m .
"$@" audit --all --json > ../stored.out 2> ../stored.err
"$@" audit verify > ../verify.out 2>&1; echo $? > ../verify.code
"$@" resume > ../resume.out 2> ../resume.err; echo $? > ../resume.code
"$@" task list --json > ../rows.out 2>&1
true
`
  const child = spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', script, 'sh', ...assayCommand([])], {
    cwd: project.folder,
    env: plainEnv(project.folder),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = (await once(child, 'close')) as [number]
  expect(code).toBe(0)
}

describe('a disk that is full', () => {
  // From no room for a journal, through one that fills while the mission runs.
  it.skipIf(!canMount).each([8_000, 130_000, 230_000])(
    'with %i bytes left: says so in a line, keeps what it acknowledged, goes on when there is room',
    { timeout },
    async (free) => {
      const project = crashProject()
      await onSmallDisk(project, free)
      expect(project.read('run.code')).toBe('3\n')
      expectOneLine(project.read('run.err'), /disk is full/i)
      expect(project.read('verify.code'), project.read('verify.out')).toBe('0\n')
      const shown = parseLines<ShownEvent>(project.read('run.out'))
      const stored = parseLines<ShownEvent>(project.read('stored.out'))
      for (const event of shown) expect(stored[event.position - 1]).toMatchObject({ stream: event.stream, type: event.type })
      expect(shown.at(-1)?.kind, 'no result is given').not.toBe('result')
      const turns = project.logged('turns')
      expect(turns.length).toBe(new Set(turns).size)
      if (stored.length === 0) return
      const ends = endsOf(parseLines(project.read('rows.out')))
      const cut = openTurns(stored)
      if (cut.length === 0) expect(ends).toEqual(await calmEnds())
      for (const [task, end] of Object.entries(expectedEnds(cut))) expect(ends[task], project.read('resume.err')).toMatchObject(end)
    },
  )

  it.skipIf(!canMount)(
    'with no room to keep the work: the work is not judged, the disk is to blame, not the worker',
    { timeout },
    async () => {
      const project = crashProject()
      project.write({
        'worker.sh': project.read('worker.sh').replace('echo "attempt', 'head -c 300000 /dev/urandom > big.bin\necho "attempt'),
      })
      await onSmallDisk(project, 700_000)
      expect(project.read('run.code')).toBe('3\n')
      expectOneLine(
        project.read('run.err'),
        /(work could not be kept|copy for review could not be made|brain could not be run).*disk is full/i,
      )
      const types = parseLines<ShownEvent>(project.read('stored.out')).map(({ type }) => type)
      expect(types).not.toContain('attempt.failed')
      expect(types).not.toContain('review.decided')
      expect(project.read('verify.code')).toBe('0\n')
    },
  )
})

describe('a disk whose sync fails', () => {
  it.skipIf(!canTrace)('stops at once, acknowledges nothing more, loses nothing', { timeout }, async () => {
    const codes: (number | null)[] = []
    for (const when of [6, 17, 24]) {
      const project = crashProject()
      const trace = join(project.folder, 'trace')
      const { code, stdout, stderr } = await project.run(['run', 'mission.yaml', '--json'], { under: failingSync(trace, when) })
      codes.push(code)
      expect(readFileSync(trace, 'utf8')).toContain('INJECTED')
      const shown = parseLines<ShownEvent>(stdout)
      // The store does without the sync of a folder, and without that of a checkpoint: then nothing happened.
      if (shown.at(-1)?.kind === 'result') continue
      expect(code, stderr).toBe(3)
      expectOneLine(stderr, /disk failed|EIO/)
      const { events, verification } = await readJournal(project.folder)
      expect(verification.breaks).toEqual([])
      for (const event of shown) expect(events[event.position - 1]).toMatchObject({ stream: event.stream, type: event.type })
      const resumed = await project.run(events.length > 0 ? ['resume'] : ['run', 'mission.yaml'])
      expect([1, 3], resumed.stderr).toContain(resumed.code)
      const turns = project.logged('turns')
      expect(turns.length).toBe(new Set(turns).size)
    }
    expect(codes, 'the fault was felt').toContain(3)
  })
})

describe('a disk whose sync fails while a worker works', () => {
  it.skipIf(!canTrace)('ends the worker too: nobody is left to take its work', { timeout }, async () => {
    const project = crashProject()
    const stuck = 'case "$ASSAY_TASK" in */low) sleep 600 ;; esac\n'
    project.write({ 'worker.sh': project.read('worker.sh').replace('echo "attempt', `${stuck}echo "attempt`) })
    const trace = join(project.folder, 'trace')
    const { code, stderr } = await project.run(['run', 'mission.yaml'], { under: failingSync(trace, '20+') })
    expect(readFileSync(trace, 'utf8')).toContain('INJECTED')
    expect(code, stderr).toBe(3)
    expectOneLine(stderr, /disk failed|EIO/)
    await noneLeft(project.folder)
    const { events, verification } = await readJournal(project.folder)
    expect(openTurns(events)).toContain('crash-1/low 1')
    expect(verification.breaks).toEqual([])
  })
})

describe('a folder that cannot be written', () => {
  const readOnly = [
    'unshare',
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$@"',
    'sh',
  ]

  it.skipIf(!canMount)('because it is mounted read-only: one line, nothing begun', { timeout }, async () => {
    const project = crashProject()
    const fresh = await project.run(['run', 'mission.yaml'], { under: readOnly, env: { TMPDIR: '/tmp' } })
    expect(fresh.code, fresh.stderr).toBe(3)
    expectOneLine(fresh.stderr, /cannot be written|read-only/i)
    expect(project.has('.assay')).toBe(false)
    expect((await project.run(['run', 'mission.yaml'])).code).toBe(1)
    const before = await readJournal(project.folder)
    const again = await project.run(['run', 'mission.yaml'], { under: readOnly, env: { TMPDIR: '/tmp' } })
    expect(again.code, again.stderr).toBe(3)
    expectOneLine(again.stderr, /cannot be written|read-only/i)
    // There is nothing left to do, which can be told without writing.
    const resumed = await project.run(['resume'], { under: readOnly, env: { TMPDIR: '/tmp' } })
    expect(resumed).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing to resume') })
    expect(await readJournal(project.folder)).toEqual(before)
  })

  it.skipIf(isRoot)('because it belongs to somebody else: one line, nothing begun', { timeout }, async () => {
    const project = crashProject()
    project.write({ 'tmp/made': '' })
    chmodSync(project.folder, 0o555)
    const { code, stderr } = await project.run(['run', 'mission.yaml'])
    chmodSync(project.folder, 0o755)
    expect(code, stderr).toBe(3)
    expectOneLine(stderr, /cannot be written/i)
    expect(project.has('.assay')).toBe(false)
  })
})
