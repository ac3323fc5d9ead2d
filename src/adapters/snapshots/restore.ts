import { accessSync, closeSync, constants, lstatSync, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Manifest, RestoreOptions, SnapshotFile } from '../../ports/snapshots.ts'
import { errnoOf, FolderChanged, SnapshotFault } from './fault.ts'
import { clearFolder, type Stays } from './folder/clear.ts'
import { whyRefused } from './folder/entries.ts'
import { hashFile, openEntry } from './folder/file.ts'
import { type HeldFolder, type HeldRoot, type Holding, holdRoot, isLocked, unlockFolder } from './folder/held.ts'
import { openBreather } from './lanes.ts'
import { smallBytes } from './limits.ts'
import { writeAll, writeAllSync } from './objects/durable.ts'
import type { Objects } from './objects/objects.ts'

// Absent on Windows.
const { R_OK, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants

/** Makes the folder hold exactly the files of the manifest. What is right already is left alone, so that doing it again changes nothing. */
export async function restoreTree(
  manifest: Manifest,
  objects: Objects,
  folder: string,
  options: RestoreOptions,
  holding: Holding,
): Promise<void> {
  makePlainFolder(folder, holding)
  const root = holdRoot(folder, holding)
  try {
    const present = new Set<string>()
    const folders = foldersOf(manifest)
    await clearFolder(root, staying(manifest, options, present), (path) => folders.has(path))
    await writeMissing(root, manifest, objects, options, present)
    if (!root.isAt(folder)) throw new FolderChanged('')
  } finally {
    root.release()
  }
}

/** A link or a file in the folder's place is removed, never followed. */
function makePlainFolder(folder: string, holding: Holding): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  if (stat?.isDirectory()) return isLocked(stat) ? unlockFolder(folder, holding) : undefined
  if (stat) unlinkSync(folder)
  mkdirSync(folder, { recursive: true })
}

function foldersOf(manifest: Manifest): Set<string> {
  const folders = new Set<string>()
  for (const { path } of manifest.files) {
    for (let cut = path.lastIndexOf('/'); cut !== -1; cut = path.lastIndexOf('/', cut - 1)) {
      const folder = path.slice(0, cut)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  return folders
}

/** What is kept for the caller, files that are right already, and whatever the snapshot had met and refused in the same place. */
function staying(manifest: Manifest, options: RestoreOptions, present: Set<string>): Stays {
  const files = new Map(manifest.files.map((file) => [file.path, file]))
  const refused = new Map(manifest.refused.map((entry) => [entry.path, entry.why]))
  return async (entry, held) => {
    if (options.keep?.(entry.path)) {
      present.add(entry.path)
      return true
    }
    const why = refused.get(entry.path)
    if (entry.kind === 'folder') return why !== undefined && why === (whyRefused(held, entry) ?? unreadable(held.at(entry.name)))
    const opening = openEntry(held, entry)
    if (opening.kind === 'refused') return opening.why === why
    if (opening.kind === 'changed') throw new FolderChanged(entry.path)
    const { file } = opening
    try {
      const wanted = files.get(entry.path)
      const writable = (file.stat.mode & 0o222n) !== 0n
      if (!wanted || wanted.size !== file.size || wanted.executable !== file.executable || (options.readOnly && writable)) return false
      if (`sha256:${await hashFile(file)}` !== wanted.digest) return false
      present.add(entry.path)
      return true
    } finally {
      closeSync(file.fd)
    }
  }
}

function unreadable(folder: string | Buffer): string | undefined {
  try {
    accessSync(folder, R_OK)
    return undefined
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return 'unreadable folder'
    throw error
  }
}

async function writeMissing(
  root: HeldRoot,
  manifest: Manifest,
  objects: Objects,
  options: RestoreOptions,
  present: Set<string>,
): Promise<void> {
  const breathe = openBreather()
  const made = new Set<string>([''])
  let folder = ''
  let held = root.hold('')
  try {
    for (const file of manifest.files) {
      if (present.has(file.path) || options.keep?.(file.path)) continue
      const parent = parentOf(file.path)
      if (parent !== folder) {
        makeInside(root, parent, made)
        held.release()
        folder = parent
        held = root.hold(parent)
      }
      await writeFile(held, file, objects, options)
      await breathe()
    }
  } finally {
    held.release()
  }
}

function parentOf(path: string): string {
  const parent = dirname(path)
  return parent === '.' ? '' : parent
}

/** Makes a folder below the root, every part of it inside a folder that is held. */
function makeInside(root: HeldRoot, path: string, made: Set<string>): void {
  const parts = path.split('/')
  for (let depth = 1; depth <= parts.length; depth++) {
    const inner = parts.slice(0, depth).join('/')
    if (made.has(inner)) continue
    const held = root.hold(parts.slice(0, depth - 1).join('/'))
    try {
      mkdirSync(held.at(parts[depth - 1] ?? ''), 0o777)
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    } finally {
      held.release()
    }
    made.add(inner)
  }
}

/** The file is created, never opened: nothing that is there can be written through. */
async function writeFile(held: HeldFolder, file: SnapshotFile, objects: Objects, options: RestoreOptions): Promise<void> {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  const mode = (options.readOnly ? 0o444 : 0o644) | (file.executable ? 0o111 : 0)
  const fd = openSync(held.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  try {
    if (!held.owns(fd, name)) throw new FolderChanged(file.path)
    await copyObject(fd, file, objects)
  } catch (error) {
    unlinkSync(held.at(name))
    throw error
  } finally {
    closeSync(fd)
  }
}

async function copyObject(fd: number, file: SnapshotFile, objects: Objects): Promise<void> {
  const hex = file.digest.slice('sha256:'.length)
  if (file.size > smallBytes) {
    if (!(await objects.pour(hex, (chunk) => writeAll(fd, chunk)))) throw missing(file)
    return
  }
  const bytes = await objects.load(hex)
  if (bytes === undefined) throw missing(file)
  writeAllSync(fd, bytes)
}

function missing(file: SnapshotFile): SnapshotFault {
  return new SnapshotFault('not_found', `object ${file.digest} of ${JSON.stringify(file.path)} is not in the store`)
}
