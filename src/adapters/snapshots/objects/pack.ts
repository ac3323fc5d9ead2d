import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { errnoOf } from '../fault.ts'
import { sha256Of } from '../folder/file.ts'
import { writeAllSync } from './durable.ts'

/**
 * Many small objects in one file: a line that says what it is, the objects' bytes one after the other, an index of where each begins, sorted by
 * its sha256, and a foot with the place, the length and the sha256 of the index. Written once as a whole and never changed.
 */
const head = Buffer.from('assay.pack/1\n')
/** sha256, where its bytes begin, how many they are. */
const entryBytes = 32 + 6 + 4
/** Where the index begins, how many entries it has, its sha256. */
const footBytes = 6 + 4 + 32
const bufferBytes = 1024 * 1024

export interface Packed {
  offset: number
  size: number
}

/** Collects objects into an open file. Nothing of it is durable before the file is synced. */
export class PackWriter {
  readonly #fd: number
  readonly #buffer = Buffer.allocUnsafe(bufferBytes)
  readonly #entries: { hex: string; offset: number; size: number }[] = []
  #filled = 0
  #offset = 0

  constructor(fd: number) {
    this.#fd = fd
    this.#write(head)
  }

  /** Bytes so far. */
  get size(): number {
    return this.#offset
  }

  add(hex: string, bytes: Uint8Array): void {
    this.#entries.push({ hex, offset: this.#offset, size: bytes.length })
    this.#write(bytes)
  }

  finish(): void {
    const start = this.#offset
    const sorted = this.#entries.sort((a, b) => (a.hex < b.hex ? -1 : 1))
    const index = Buffer.alloc(sorted.length * entryBytes)
    for (const [n, { hex, offset, size }] of sorted.entries()) {
      index.write(hex, n * entryBytes, 'hex')
      index.writeUIntBE(offset, n * entryBytes + 32, 6)
      index.writeUInt32BE(size, n * entryBytes + 38)
    }
    const foot = Buffer.alloc(footBytes)
    foot.writeUIntBE(start, 0, 6)
    foot.writeUInt32BE(sorted.length, 6)
    foot.write(sha256Of(index), 10, 'hex')
    this.#write(index)
    this.#write(foot)
    this.#flush()
  }

  #write(bytes: Uint8Array): void {
    this.#offset += bytes.length
    if (bytes.length > bufferBytes - this.#filled) this.#flush()
    if (bytes.length > bufferBytes) return writeAllSync(this.#fd, bytes)
    this.#buffer.set(bytes, this.#filled)
    this.#filled += bytes.length
  }

  #flush(): void {
    writeAllSync(this.#fd, this.#buffer.subarray(0, this.#filled))
    this.#filled = 0
  }
}

/** Where the objects of a pack are. */
export class PackIndex {
  readonly #entries: Buffer
  readonly count: number

  constructor(entries: Buffer) {
    this.#entries = entries
    this.count = entries.length / entryBytes
  }

  find(hex: string): Packed | undefined {
    const wanted = Buffer.from(hex, 'hex')
    let [low, high] = [0, this.count - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const at = middle * entryBytes
      const order = this.#entries.compare(wanted, 0, 32, at, at + 32)
      if (order === 0) return this.#packed(at)
      if (order < 0) low = middle + 1
      else high = middle - 1
    }
    return undefined
  }

  *entries(): Generator<Packed & { hex: string }> {
    for (let at = 0; at < this.#entries.length; at += entryBytes) {
      yield { hex: this.#entries.toString('hex', at, at + 32), ...this.#packed(at) }
    }
  }

  #packed(at: number): Packed {
    return { offset: this.#entries.readUIntBE(at + 32, 6), size: this.#entries.readUInt32BE(at + 38) }
  }
}

/** Undefined where the file is no whole pack, or gone. */
export function readPackIndex(file: string): PackIndex | undefined {
  const fd = openOrUndefined(file)
  if (fd === undefined) return undefined
  try {
    const { size } = fstatSync(fd)
    if (size < head.length + footBytes || !readAt(fd, 0, head.length).equals(head)) return undefined
    const foot = readAt(fd, size - footBytes, footBytes)
    const [start, count] = [foot.readUIntBE(0, 6), foot.readUInt32BE(6)]
    if (start + count * entryBytes + footBytes !== size) return undefined
    const index = readAt(fd, start, count * entryBytes)
    return sha256Of(index) === foot.toString('hex', 10) ? new PackIndex(index) : undefined
  } finally {
    closeSync(fd)
  }
}

/** The bytes of one object as they stand there, to be verified; undefined where the pack is gone. */
export function readPacked(file: string, { offset, size }: Packed): Buffer | undefined {
  const fd = openOrUndefined(file)
  if (fd === undefined) return undefined
  try {
    return readAt(fd, offset, size)
  } finally {
    closeSync(fd)
  }
}

function openOrUndefined(file: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0 } = constants
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** As many bytes as there are. */
function readAt(fd: number, offset: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let got = 0
  while (got < size) {
    const count = readSync(fd, bytes, got, size - got, offset + got)
    if (count === 0) break
    got += count
  }
  return bytes.subarray(0, got)
}
