import { type BigIntStats, closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { createHash, hash } from 'node:crypto'
import { errnoOf, isGone } from '../fault.ts'
import { chunkBytes, smallBytes } from '../limits.ts'
import { type Entry, kindOf, whyRefused } from './entries.ts'
import type { HeldFolder } from './held.ts'

// Absent on Windows.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants
const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

/** A plain file, open. Whoever got it closes it. */
export interface OpenFile {
  fd: number
  size: number
  executable: boolean
  /** Its state when it was opened. */
  stat: BigIntStats
}

export type Opening = { kind: 'open'; file: OpenFile } | { kind: 'refused'; why: string } | { kind: 'changed' }

/**
 * Opens first and checks what was opened: a link is not followed, a pipe does not block, and only a plain file with one name is handed out.
 * `mayHaveNames` is for a file that the user named himself: other names of it hide nothing.
 */
export function openEntry(held: HeldFolder, entry: Entry, mayHaveNames = false): Opening {
  const why = whyRefused(held, entry)
  if (why !== undefined || typeof entry.name !== 'string') return { kind: 'refused', why: why ?? 'name is not UTF-8' }
  let fd: number
  try {
    fd = openSync(held.at(entry.name), flags)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'EACCES' || errno === 'EPERM') return { kind: 'refused', why: 'unreadable' }
    // It was a plain file when it was listed: a link, a socket or nothing is there now.
    if (isGone(error) || errno === 'ENXIO' || errno === 'EMLINK') return { kind: 'changed' }
    throw error
  }
  const opening = judgeOpened(held, entry.name, fd, mayHaveNames)
  if (opening.kind !== 'open') closeSync(fd)
  return opening
}

function judgeOpened(held: HeldFolder, name: string, fd: number, mayHaveNames: boolean): Opening {
  const stat = fstatSync(fd, { bigint: true })
  if (kindOf(stat) !== 'file' || stat.nlink === 0n || !held.owns(fd, name)) return { kind: 'changed' }
  if (stat.nlink !== 1n && !mayHaveNames) return { kind: 'refused', why: 'hard link' }
  return { kind: 'open', file: { fd, size: Number(stat.size), executable: (stat.mode & 0o100n) !== 0n, stat } }
}

/** The file is as it was when it was opened. */
export function isSteady(file: OpenFile): boolean {
  const now = fstatSync(file.fd, { bigint: true })
  const then = file.stat
  return now.size === then.size && now.mtimeNs === then.mtimeNs && now.ctimeNs === then.ctimeNs && now.nlink === then.nlink
}

/** One buffer for all: what it holds is used up before anything else can run. */
const smallBuffer = Buffer.allocUnsafe(smallBytes + 1)

/** All bytes of a small file, valid until the next call; undefined where it changed meanwhile. */
export function readSmall(file: OpenFile): Buffer | undefined {
  let got = 0
  do {
    const bytes = readSync(file.fd, smallBuffer, got, file.size + 1 - got, got)
    if (bytes === 0) break
    got += bytes
  } while (got < file.size)
  return got === file.size && isSteady(file) ? smallBuffer.subarray(0, got) : undefined
}

export function sha256Of(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

/** Streams an open file through one buffer; gives the hex sha256 of what passed, or undefined where the file changed meanwhile. */
export async function streamFile(file: OpenFile, pass?: (chunk: Uint8Array) => Promise<void>): Promise<string | undefined> {
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, file.size + 1))
  const digest = createHash('sha256')
  let got = 0
  for (;;) {
    const bytes = await readSome(file.fd, buffer, got)
    if (bytes === 0) break
    got += bytes
    if (got > file.size) return undefined
    const chunk = buffer.subarray(0, bytes)
    digest.update(chunk)
    if (pass) await pass(chunk)
  }
  return got === file.size && isSteady(file) ? digest.digest('hex') : undefined
}

export function readSome(fd: number, buffer: Buffer, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.length, position, (error, bytes) => (error ? reject(error) : resolve(bytes)))
  })
}

/** Hex sha256 of an open file of any size; undefined where it changed meanwhile. */
export async function hashFile(file: OpenFile): Promise<string | undefined> {
  if (file.size > smallBytes) return streamFile(file)
  const bytes = readSmall(file)
  return bytes && sha256Of(bytes)
}
