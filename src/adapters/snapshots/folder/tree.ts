import { closeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Manifest, SnapshotFile } from '../../../ports/snapshots.ts'
import { errnoOf, FolderChanged, isGone, SnapshotFault } from '../fault.ts'
import { type Lanes, openBreather, openLanes } from '../lanes.ts'
import { maxReadTries, readLanes, type SnapshotLimits, smallBytes } from '../limits.ts'
import type { ObjectBatch } from '../objects/objects.ts'
import { type Entry, entriesOf, entryOf, whyRefused } from './entries.ts'
import { type OpenFile, type Opening, openEntry, readSmall, sha256Of, streamFile } from './file.ts'
import type { HeldFolder, HeldRoot } from './held.ts'

interface Walk {
  root: HeldRoot
  batch: ObjectBatch
  limits: SnapshotLimits
  ignore: (path: string) => boolean
  files: SnapshotFile[]
  refused: Manifest['refused']
  folders: string[]
  entries: number
  bytes: number
  mayHaveNames?: boolean
  breathe: () => Promise<void> | undefined
}

/** Reads everything below the root into the batch, folder by folder and without recursion. Throws `FolderChanged` where a folder did not hold still. */
export async function readTree(
  root: HeldRoot,
  batch: ObjectBatch,
  limits: SnapshotLimits,
  ignore: (path: string) => boolean,
): Promise<Pick<Manifest, 'files' | 'refused'>> {
  const walk: Walk = { root, batch, limits, ignore, files: [], refused: [], folders: [''], entries: 0, bytes: 0, breathe: openBreather() }
  for (let path = walk.folders.pop(); path !== undefined; path = walk.folders.pop()) await readFolder(walk, path)
  return { files: walk.files, refused: walk.refused }
}

/** Reads one plain file of the root into the batch. */
export async function readOne(root: HeldRoot, name: string, batch: ObjectBatch, maxBytes: number): Promise<SnapshotFile> {
  const limits = { maxFileBytes: maxBytes, maxTotalBytes: maxBytes, maxFiles: 1 }
  const walk: Walk = {
    ...{ root, batch, limits, ignore: () => false, files: [], refused: [], folders: [] },
    ...{ entries: 0, bytes: 0, breathe: openBreather(), mayHaveNames: true },
  }
  const held = root.hold('')
  try {
    const entry = entryOf(held, name)
    if (!entry) throw new SnapshotFault('not_found', `there is no file ${JSON.stringify(name)}`)
    if (entry.kind !== 'file') throw new SnapshotFault('io', `${JSON.stringify(name)} is no plain file but a ${entry.kind}`)
    await keep(walk, held, entry, openEntry(held, entry, true))
  } finally {
    held.release()
  }
  const [file] = walk.files
  if (!file) throw new SnapshotFault('io', `${JSON.stringify(name)} is not taken: ${walk.refused[0]?.why}`)
  return file
}

async function readFolder(walk: Walk, path: string): Promise<void> {
  const held = holdFolder(walk, path)
  if (held === undefined) return
  const lanes = openLanes(readLanes)
  try {
    const before = held.stat()
    for (const entry of entriesOf(held, path)) {
      if (walk.ignore(entry.path)) continue
      count(walk)
      const why = whyRefused(held, entry)
      if (why !== undefined) walk.refused.push({ path: entry.path, why })
      else if (entry.kind === 'folder') walk.folders.push(entry.path)
      else await readFile(walk, held, entry, lanes)
      await walk.breathe()
    }
    await lanes.drain()
    const after = held.stat()
    if (before.mtimeNs !== after.mtimeNs || before.ctimeNs !== after.ctimeNs || !held.inPlace()) throw new FolderChanged(path)
  } finally {
    await lanes.settle()
    held.release()
  }
}

/** Undefined for a folder that may not be read: it is named and left alone. */
function holdFolder(walk: Walk, path: string): HeldFolder | undefined {
  try {
    return walk.root.hold(path)
  } catch (error) {
    const errno = errnoOf(error)
    if (path !== '' && (errno === 'EACCES' || errno === 'EPERM')) walk.refused.push({ path, why: 'unreadable folder' })
    else if (path !== '' && errno === 'ENAMETOOLONG') walk.refused.push({ path, why: 'path is too long for this system' })
    else if (isGone(error)) throw new FolderChanged(path)
    else throw error
    return undefined
  }
}

function count(walk: Walk): void {
  walk.entries += 1
  if (walk.entries > walk.limits.maxFiles) {
    throw new SnapshotFault('too_large', `more than ${walk.limits.maxFiles} entries (limit maxFiles)`)
  }
}

/** Small files are read on the spot; a large one is opened again in a lane of its own. */
async function readFile(walk: Walk, held: HeldFolder, entry: Entry, lanes: Lanes): Promise<void> {
  const opening = openEntry(held, entry)
  if (opening.kind !== 'open' || opening.file.size <= smallBytes) return keep(walk, held, entry, opening)
  closeSync(opening.file.fd)
  await lanes.add(async () => keep(walk, held, entry, openEntry(held, entry)))
}

/** A file that changes under our hands is read again, a bounded number of times. */
async function keep(walk: Walk, held: HeldFolder, entry: Entry, first: Opening): Promise<void> {
  let opening = first
  for (let tries = 1; ; tries++) {
    if (opening.kind === 'refused') {
      walk.refused.push({ path: entry.path, why: opening.why })
      return
    }
    if (opening.kind === 'open' && (await storeAndClose(walk, entry, opening.file))) return
    if (tries === maxReadTries) break
    await delay(10 * 2 ** tries)
    opening = openEntry(held, entry, walk.mayHaveNames)
  }
  throw new SnapshotFault('changed_while_reading', `${JSON.stringify(entry.path)} changed while it was read, ${maxReadTries} times`)
}

/** False where the file did not hold still. */
async function storeAndClose(walk: Walk, entry: Entry, file: OpenFile): Promise<boolean> {
  try {
    checkSize(walk, entry, file.size)
    // Counted before it is read: others are read side by side.
    walk.bytes += file.size
    const hex = await (file.size > smallBytes ? storeLarge : storeSmall)(walk.batch, file)
    if (hex === undefined) {
      walk.bytes -= file.size
      return false
    }
    walk.files.push({ path: entry.path, size: file.size, digest: `sha256:${hex}`, executable: file.executable })
    return true
  } finally {
    closeSync(file.fd)
  }
}

function checkSize(walk: Walk, entry: Entry, size: number): void {
  const { maxFileBytes, maxTotalBytes } = walk.limits
  if (size > maxFileBytes) {
    throw new SnapshotFault('too_large', `${JSON.stringify(entry.path)} has ${size} bytes, more than ${maxFileBytes} (limit maxFileBytes)`)
  }
  if (walk.bytes + size > maxTotalBytes)
    throw new SnapshotFault('too_large', `more than ${maxTotalBytes} bytes in all (limit maxTotalBytes)`)
}

/** The bytes that were hashed are the bytes that are stored. */
async function storeSmall(batch: ObjectBatch, file: OpenFile): Promise<string | undefined> {
  const bytes = readSmall(file)
  if (bytes === undefined) return undefined
  const hex = sha256Of(bytes)
  if (!batch.has(hex, file.size)) await batch.put(hex, bytes)
  return hex
}

/** Hashed first, because most large files are already stored; a new one is hashed again while it is copied, and the copy counts. */
async function storeLarge(batch: ObjectBatch, file: OpenFile): Promise<string | undefined> {
  const hex = await streamFile(file)
  if (hex === undefined || batch.has(hex, file.size)) return hex
  const writer = batch.writer()
  try {
    const copied = await streamFile(file, (chunk) => writer.write(chunk))
    if (copied === undefined) return undefined
    await writer.finish(copied)
    return copied
  } finally {
    await writer.discard()
  }
}
