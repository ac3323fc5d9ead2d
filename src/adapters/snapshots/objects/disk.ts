import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '../fault.ts'
import { sha256Of } from '../folder/file.ts'
import { type Lanes, openLanes } from '../lanes.ts'
import { writeLanes } from '../limits.ts'
import { keepFresh } from './fresh.ts'
import { makeFolder, syncFile, syncFolder, writeAll, writeAllSync } from './durable.ts'
import { loadObject, pourObject } from './load.ts'
import { readPacked } from './pack.ts'
import { Packs } from './packs.ts'
import { SmallObjects } from './small.ts'
import { corrupt, type ObjectBatch, type Objects, type ObjectWriter } from './objects.ts'

/** Unfinished files of a process that died are swept after this long; a living one touches its file far more often. */
const staleMs = 3_600_000

/** Write-once files `ab/cdef…` named by their sha256. A sealed one (no write permission) is known to be durable, name included. */
interface Shelf {
  folder: string
  packs: Packs
  /** First two characters of names whose folder is known to be durable in this one. */
  fans: Set<string>
  place(hex: string): string
  temp(): string
  ready(): Promise<void>
}

export function diskObjects(folder: string): Objects {
  let made: Promise<void> | undefined
  const shelf: Shelf = {
    folder,
    packs: new Packs(folder),
    fans: new Set(),
    place: (hex) => join(folder, hex.slice(0, 2), hex.slice(2)),
    temp: () => join(folder, 'tmp', `${process.pid}-${randomUUID()}`),
    ready() {
      made ??= makeReady(join(folder, 'tmp')).catch((error: unknown) => {
        made = undefined
        throw error
      })
      return made
    },
  }
  return {
    begin: () => openBatch(shelf),
    load: async (hex) => (await loadObject(hex, shelf.place(hex))) ?? loadPacked(shelf, hex),
    async pour(hex, into) {
      if (await pourObject(hex, shelf.place(hex), into)) return true
      const bytes = loadPacked(shelf, hex)
      if (bytes) await into(bytes)
      return bytes !== undefined
    },
  }
}

/** Looked for among known packs first, then among those that others have added. */
function loadPacked({ packs }: Shelf, hex: string): Uint8Array | undefined {
  for (const look of [() => undefined, () => packs.refresh()]) {
    look()
    const found = packs.find(hex)
    const bytes = found && readPacked(found.pack.file, found.at)
    if (!found || !bytes) continue
    const actual = sha256Of(bytes)
    if (actual !== hex) throw corrupt(hex, `${found.pack.file} at ${found.at.offset}`, actual)
    return bytes
  }
  return undefined
}

async function makeReady(folder: string): Promise<void> {
  await makeFolder(folder)
  for (const name of readdirSync(folder)) {
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false })
    if (stat && Date.now() - stat.mtimeMs > staleMs) removeIfThere(join(folder, name))
  }
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

function namesIn(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return new Set()
    throw error
  }
}

function openBatch(shelf: Shelf): ObjectBatch {
  /** Present, but perhaps not yet durable under its name. */
  const unsealed = new Set<string>()
  const started = new Set<string>()
  const lanes = openLanes(writeLanes)
  const small = new SmallObjects(shelf)
  /** Folders of single objects when one was first looked for; where another process makes one meanwhile, an object is stored twice. */
  let fans: ReadonlySet<string> | undefined
  shelf.packs.refresh()
  return {
    has(hex, size) {
      if (started.has(hex) || unsealed.has(hex)) return true
      const packed = shelf.packs.find(hex)
      if (packed?.at.size === size && shelf.packs.rely(packed.pack)) return true
      fans ??= namesIn(shelf.folder)
      if (!fans.has(hex.slice(0, 2))) return false
      const stat = lstatSync(shelf.place(hex), { throwIfNoEntry: false })
      if (!stat?.isFile() || stat.size !== size || !keepFresh(shelf.place(hex), stat.mtimeMs)) return false
      if ((stat.mode & 0o222) !== 0) unsealed.add(hex)
      return true
    },
    async put(hex, bytes) {
      small.add(hex, bytes)
      started.add(hex)
      await shelf.ready()
      await small.tidy()
    },
    writer() {
      return openWriter(shelf, (hex) => unsealed.add(hex))
    },
    async commit() {
      for (const { hex, bytes } of await small.finish()) {
        await putSmall(shelf, lanes, hex, bytes)
        unsealed.add(hex)
      }
      await lanes.drain()
      await seal(shelf, unsealed)
      await shelf.packs.seal()
    },
    async settle() {
      await lanes.settle()
      small.discard()
    },
  }
}

/** Writes one object in a lane. */
async function putSmall(shelf: Shelf, lanes: Lanes, hex: string, bytes: Uint8Array): Promise<void> {
  await lanes.add(async () => {
    const temp = shelf.temp()
    const fd = openSync(temp, 'wx', 0o600)
    await finishing(fd, temp, async () => {
      writeAllSync(fd, bytes)
      await syncFile(fd)
      shelve(shelf, temp, hex)
    })
  })
}

function openWriter(shelf: Shelf, finished: (hex: string) => void): ObjectWriter {
  const temp = shelf.temp()
  let fd: number | undefined
  return {
    async write(chunk) {
      if (fd === undefined) {
        await shelf.ready()
        fd = openSync(temp, 'wx', 0o600)
      }
      await writeAll(fd, chunk)
    },
    async finish(hex) {
      if (fd === undefined) throw new Error('an object was finished before anything was written')
      const open = fd
      fd = undefined
      await finishing(open, temp, async () => {
        await syncFile(open)
        shelve(shelf, temp, hex)
      })
      finished(hex)
    },
    async discard() {
      if (fd === undefined) return
      closeSync(fd)
      fd = undefined
      removeIfThere(temp)
    },
  }
}

/** Closes the file whatever happens; a failure leaves nothing behind. */
async function finishing(fd: number, temp: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    removeIfThere(temp)
    throw error
  } finally {
    closeSync(fd)
  }
}

/** The file is whole and durable before it gets its name. */
function shelve(shelf: Shelf, temp: string, hex: string): void {
  try {
    renameSync(temp, shelf.place(hex))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(join(shelf.folder, hex.slice(0, 2)), { recursive: true })
    renameSync(temp, shelf.place(hex))
  }
}

/** Makes the names durable, then marks the objects, so that later takes need not do it again. */
async function seal(shelf: Shelf, unsealed: Set<string>): Promise<void> {
  if (unsealed.size === 0) return
  const lanes = openLanes(writeLanes)
  const fans = new Set([...unsealed].map((hex) => hex.slice(0, 2)))
  for (const fan of fans) await lanes.add(() => syncFolder(join(shelf.folder, fan)))
  if ([...fans].some((fan) => !shelf.fans.has(fan))) await lanes.add(() => syncFolder(shelf.folder))
  await lanes.drain()
  for (const fan of fans) shelf.fans.add(fan)
  for (const hex of unsealed) chmodSync(shelf.place(hex), 0o444)
  unsealed.clear()
}
