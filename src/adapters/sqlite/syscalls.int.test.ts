import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { journalAdapters } from '../../testing/journal-suite/adapters.ts'
import { type Child, startChild } from '../../testing/journal-suite/faults/children.ts'
import { openAt } from '../../testing/journal-suite/fresh.ts'

const adapter = journalAdapters.sqlite
const timeout = 600_000
const canTrace = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0
if (!canTrace) console.warn('skipped: faults in single system calls need `strace` (package strace) and permission to trace')
/** Every point takes most of a second; by default a sample of them is tried, shifted by nothing, so that a failure repeats. */
const stride = process.env.ASSAY_ALL_FAULT_POINTS ? 1 : 13

interface Traced {
  child: Child
  injected: number
  calls: number
  errors: string
}

async function newPlace(): Promise<string> {
  const place = await adapter.newPlace()
  onTestFinished(() => place.remove())
  return place.name
}

/** Runs a child that appends, with a fault injected into its calls on the journal's files. */
async function traced(
  place: string,
  syscall: string,
  inject: string,
  options: Record<string, unknown>,
  files = ['', '-wal'],
): Promise<Traced> {
  const trace = join(place, 'trace')
  const paths = files.flatMap((suffix) => ['-P', join(place, '.assay', `assay.db${suffix}`)])
  const under = [
    'strace',
    '-f',
    '-qq',
    '-o',
    trace,
    ...paths,
    '-e',
    `trace=${syscall}`,
    ...(inject === '' ? [] : ['-e', `inject=${syscall}:${inject}`]),
  ]
  const child = startChild({ adapter: 'sqlite', place, task: 'append', options, under })
  const { errors } = await child.ended
  const lines = readFileSync(trace, 'utf8').split('\n')
  return {
    child,
    errors,
    injected: lines.filter((line) => line.includes('INJECTED')).length,
    calls: lines.filter((line) => line.includes(`${syscall}(`)).length,
  }
}

/** What was acknowledged is there, whole, and the journal goes on. */
async function expectIntact(place: string, ...children: Child[]): Promise<void> {
  const acknowledged = children.flatMap(({ said }) =>
    said.flatMap(({ acknowledged }) => (acknowledged === undefined ? [] : [acknowledged])),
  )
  const journal = await openAt(adapter, place)
  const stored = (await journal.readStream('s')).map(({ hash }) => hash)
  // Of each process at most the append that was under way is there unasked.
  expect(stored.filter((hash) => acknowledged.includes(hash))).toEqual(acknowledged)
  expect(stored.length - acknowledged.length).toBeLessThanOrEqual(children.length)
  expect((await journal.verify()).breaks).toEqual([])
  expect(await journal.rebuildViews()).toEqual([])
  await journal.close()
}

describe.skipIf(!canTrace)('a fault in a single system call', () => {
  it('a sync that fails acknowledges nothing and stops the journal for good', { timeout }, async () => {
    const codes: unknown[] = []
    for (let point = 1; ; point += 1) {
      const place = await newPlace()
      const { child, injected } = await traced(place, 'fsync', `error=EIO:when=${point}`, { count: 3 }, ['-wal'])
      if (injected === 0) break
      const fault = child.said.find(({ fault, refused }) => fault !== undefined || refused !== undefined)
      if (fault?.fault !== undefined) expect(fault).toEqual({ fault: 'io', after: ['io', 'io', 'io', 'io'] })
      codes.push(fault?.fault ?? fault?.refused ?? 'none')
      await expectIntact(place, child)
    }
    // Opening failed, then each of the three appends in turn; only the checkpoint at the end, after the last acknowledgement, may pass unseen.
    expect(codes.filter((code) => code === 'io').length).toBeGreaterThanOrEqual(4)
    expect(codes.indexOf('none')).toBe(codes.length - 1)
  })

  it('a process killed at a write leaves every acknowledged event and a journal that opens', { timeout }, async () => {
    let fired = 0
    for (let point = 1; ; point += stride) {
      const place = await newPlace()
      const { child, injected } = await traced(place, 'pwrite64', `signal=SIGKILL:when=${point}`, { count: 2 })
      // The kill is its own proof: nothing else ends the child before it closes the journal.
      const { code, signal } = await child.ended
      if (injected === 0 && code === 0) break
      expect(signal).toBe('SIGKILL')
      fired += 1
      await expectIntact(place, child)
    }
    expect(fired).toBeGreaterThan(40 / stride)
  })

  it('a process killed while it recovers from a kill loses nothing either', { timeout }, async () => {
    for (const point of [1, 2, 5]) {
      const place = await newPlace()
      const first = await traced(place, 'pwrite64', 'signal=SIGKILL:when=45', { count: 9 })
      const second = await traced(place, 'pwrite64', `signal=SIGKILL:when=${point}`, { count: 9 })
      expect([(await first.child.ended).signal, (await second.child.ended).signal]).toEqual(['SIGKILL', 'SIGKILL'])
      expect(first.child.said.length).toBeGreaterThan(0)
      await expectIntact(place, first.child, second.child)
    }
  })

  it('a disk that fills up at a write acknowledges nothing that is not there', { timeout }, async () => {
    let fired = 0
    for (let point = 1; ; point += stride) {
      const place = await newPlace()
      const { child, injected } = await traced(place, 'pwrite64', `error=ENOSPC:when=${point}+`, { count: 2 })
      if (injected === 0) break
      const fault = child.said.find(({ fault, refused }) => fault !== undefined || refused !== undefined)
      if (child.said.filter(({ acknowledged }) => acknowledged !== undefined).length < 2) {
        expect(fault?.fault ?? fault?.refused).toBe('disk_full')
      }
      fired += 1
      await expectIntact(place, child)
    }
    expect(fired).toBeGreaterThan(40 / stride)
  })

  it('appends that wait together share a sync', { timeout }, async () => {
    const alone = await traced(await newPlace(), 'fsync', '', { count: 20 }, ['-wal'])
    const together = await traced(await newPlace(), 'fsync', '', { count: 20, together: true }, ['-wal'])
    expect(alone.calls - together.calls).toBeGreaterThanOrEqual(18)
    expect(together.child.said.filter(({ acknowledged }) => acknowledged !== undefined)).toHaveLength(20)
  })
})

it('a database that may not grow is a full disk: refused in plain words, nothing lost, going on when it may', { timeout }, async () => {
  const place = await newPlace()
  const limitPages = fileURLToPath(new URL('../../testing/journal-suite/faults/limit-pages.ts', import.meta.url))
  const child = startChild({ adapter: 'sqlite', place, task: 'fill', options: { bytes: 20_000 }, nodeFlags: ['--import', limitPages] })
  expect(await child.hears(({ fault }) => fault !== undefined)).toMatchObject({ fault: 'disk_full' })
  const before = child.said.filter(({ version }) => version !== undefined).length
  expect(before).toBeGreaterThan(0)
  child.kill('SIGUSR2')
  await child.hears(({ mayGrow }) => mayGrow === true)
  child.tell()
  const after = await child.hears(({ verified }) => verified !== undefined)
  expect(after).toMatchObject({ verified: { events: before + 20, breaks: [] }, rebuilt: [], head: before + 20 })
})
