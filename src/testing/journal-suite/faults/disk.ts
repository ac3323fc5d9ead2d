import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { JournalAdapter } from '../adapters.ts'
import { openAt } from '../fresh.ts'
import { appended } from '../samples.ts'
import { startChild } from './children.ts'

const timeout = 300_000
const isRoot = process.getuid?.() === 0

/** A mount namespace of its own, in which a shell prepares the folder `$1` before it becomes the child. */
function prepared(script: string, folder: string): string[] {
  return ['unshare', '--map-root-user', '--mount', 'sh', '-c', `set -e; ${script}; shift; exec "$@"`, 'sh', folder]
}

const canMount = spawnSync('unshare', ['--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=64k tmpfs /mnt']).status === 0
if (!canMount)
  console.warn('skipped: disk-full and read-only mounts need `unshare` (package util-linux) and permission for user namespaces')

/** Small enough to fill in a moment; most of the room is given back by removing the ballast. */
const smallDisk = 'mount -t tmpfs -o size=4m tmpfs "$1"; head -c 2500000 /dev/zero > "$1/ballast"'
/** Ends with 99 if the folder can be written after all: then the fault did not fire. */
const readOnlyMount = 'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"; if touch "$1/probe" 2>/dev/null; then exit 99; fi'

export function diskFaults(adapter: JournalAdapter): void {
  describe('a failing disk', () => {
    it.skipIf(!canMount)(
      'that is full acknowledges nothing more, loses nothing, and serves again when there is room',
      { timeout },
      async () => {
        const place = await adapter.newPlace()
        onTestFinished(() => place.remove())
        const options = { bytes: 20_000, ballast: join(place.name, 'ballast') }
        const child = startChild({
          adapter: adapter.name,
          place: place.name,
          task: 'fill',
          options,
          under: prepared(smallDisk, place.name),
        })
        const fault = await child.hears(({ fault }) => fault !== undefined)
        expect(fault).toMatchObject({ fault: 'disk_full', message: expect.stringContaining('The disk is full') })
        const before = child.said.filter(({ version }) => version !== undefined).length
        expect(before).toBeGreaterThan(0)
        child.tell()
        const after = await child.hears(({ verified }) => verified !== undefined)
        expect(after).toEqual({ verified: { events: before + 20, streams: 1, breaks: [] }, rebuilt: [], head: before + 20 })
        expect((await child.ended).code).toBe(0)
      },
    )

    it.skipIf(!canMount)('that is mounted read-only is refused at the start, in plain words', { timeout }, async () => {
      for (const existing of [false, true]) {
        const place = await adapter.newPlace()
        onTestFinished(() => place.remove())
        if (existing) {
          const journal = await openAt(adapter, place.name)
          await appended(journal, 's', 0, 1)
          await journal.close()
        }
        const child = startChild({ adapter: adapter.name, place: place.name, task: 'open', under: prepared(readOnlyMount, place.name) })
        expect((await child.ended).code).toBe(0)
        expect(child.said).toEqual([{ refused: 'read_only', message: expect.stringContaining('cannot be written') }])
      }
    })

    it.skipIf(isRoot)('whose folder belongs to somebody else is refused at the start', async () => {
      const place = await adapter.newPlace()
      onTestFinished(() => place.remove())
      chmodSync(place.name, 0o555)
      await expect(adapter.open(place.name, { views: [] })).rejects.toMatchObject({ name: 'JournalFault', code: 'read_only' })
      chmodSync(place.name, 0o755)
    })
  })
}
