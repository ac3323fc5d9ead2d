import { isUtf8 } from 'node:buffer'
import { type Dir, lstatSync, opendirSync, readlinkSync } from 'node:fs'
import { errnoOf, FolderChanged, isGone } from '../fault.ts'
import { maxPathBytes } from '../limits.ts'
import type { HeldFolder } from './held.ts'

export interface Entry {
  /** As the system calls take it: bytes where the name is no UTF-8. */
  name: string | Buffer
  /** Relative to the root, `/`-separated; escaped where the name is no UTF-8. */
  path: string
  kind: 'file' | 'folder' | 'link' | 'pipe' | 'socket' | 'device'
}

interface Kinds {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
  isFIFO(): boolean
  isSocket(): boolean
  isCharacterDevice(): boolean
  isBlockDevice(): boolean
}

/** Undefined where the file system does not say. */
export function kindOf(kinds: Kinds): Entry['kind'] | undefined {
  if (kinds.isFile()) return 'file'
  if (kinds.isDirectory()) return 'folder'
  if (kinds.isSymbolicLink()) return 'link'
  if (kinds.isFIFO()) return 'pipe'
  if (kinds.isSocket()) return 'socket'
  if (kinds.isCharacterDevice() || kinds.isBlockDevice()) return 'device'
  return undefined
}

/** The folder's entries, one at a time, so that a folder of millions is met with a limit and not with memory. */
export function* entriesOf(held: HeldFolder, folder: string): Generator<Entry> {
  const listing = openListing(held, folder)
  try {
    for (let found = listing.readSync(); found !== null; found = listing.readSync()) {
      const bytes = found.name as unknown as Buffer
      const name = isUtf8(bytes) ? bytes.toString() : bytes
      const kind = kindOf(found) ?? kindNow(held, name)
      const shown = typeof name === 'string' ? name : escapeBytes(name)
      if (kind !== undefined) yield { name, path: folder === '' ? shown : `${folder}/${shown}`, kind }
    }
  } finally {
    listing.closeSync()
  }
}

function openListing(held: HeldFolder, folder: string): Dir {
  try {
    return opendirSync(held.at('').toString(), { encoding: 'buffer' as BufferEncoding, bufferSize: 512 })
  } catch (error) {
    throw isGone(error) ? new FolderChanged(folder) : error
  }
}

/** One entry by its name; undefined where there is none. */
export function entryOf(held: HeldFolder, name: string): Entry | undefined {
  const kind = kindNow(held, name)
  return kind && { name, path: name, kind }
}

function kindNow(held: HeldFolder, name: string | Buffer): Entry['kind'] | undefined {
  const stat = lstatSync(held.at(name), { throwIfNoEntry: false })
  return stat && kindOf(stat)
}

/** Why an entry is named but not taken; undefined for a file or folder that may be opened. */
export function whyRefused(held: HeldFolder, entry: Entry): string | undefined {
  if (typeof entry.name !== 'string') return 'name is not UTF-8'
  if (Buffer.byteLength(entry.path) > maxPathBytes) return `path is longer than ${maxPathBytes} bytes`
  switch (entry.kind) {
    case 'file':
    case 'folder':
      return undefined
    case 'link':
      return `symbolic link to ${targetOf(held, entry)}`
    case 'pipe':
      return 'named pipe'
    case 'socket':
      return 'socket'
    case 'device':
      return 'device'
  }
}

/** Where a link points, as text; it is never followed. Part of the refusal, so that a retargeted link is a change. */
function targetOf(held: HeldFolder, entry: Entry): string {
  try {
    const target = readlinkSync(held.at(entry.name), { encoding: 'buffer' })
    return JSON.stringify(isUtf8(target) ? target.toString() : escapeBytes(target))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'EINVAL' || isGone(error)) throw new FolderChanged(entry.path)
    if (errno === 'EACCES' || errno === 'EPERM') return 'a place that may not be read'
    throw error
  }
}

/** One text for one name: bytes above ASCII and the backslash itself are escaped. */
function escapeBytes(bytes: Buffer): string {
  let text = ''
  for (const byte of bytes) {
    if (byte === 0x5c) text += '\\\\'
    else text += byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`
  }
  return text
}
