import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { errnoOf, faultOf } from '../fault.ts'
import { readSome, sha256Of } from '../folder/file.ts'
import { chunkBytes, smallBytes } from '../limits.ts'
import { corrupt } from './objects.ts'

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/** The bytes of one object file, verified against its name; undefined where there is none. */
export async function loadObject(hex: string, place: string): Promise<Uint8Array | undefined> {
  return reading(hex, place, async (fd, size) => {
    const bytes = Buffer.allocUnsafe(size)
    let got = 0
    while (got < size) {
      const rest = bytes.subarray(got)
      const count = size <= smallBytes ? readSync(fd, rest, 0, rest.length, got) : await readSome(fd, rest, got)
      if (count === 0) break
      got += count
    }
    const actual = sha256Of(bytes.subarray(0, got))
    if (actual !== hex) throw corrupt(hex, place, actual)
    return bytes
  })
}

/** Streams one object file; throws at its end if what passed is not what its name says. */
export async function pourObject(hex: string, place: string, into: (chunk: Uint8Array) => Promise<void>): Promise<boolean> {
  const found = await reading(hex, place, async (fd) => {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    const digest = createHash('sha256')
    for (let got = 0; ; ) {
      const count = await readSome(fd, buffer, got)
      if (count === 0) break
      got += count
      digest.update(buffer.subarray(0, count))
      await into(buffer.subarray(0, count))
    }
    const actual = digest.digest('hex')
    if (actual !== hex) throw corrupt(hex, place, actual)
    return true
  })
  return found === true
}

async function reading<T>(hex: string, place: string, use: (fd: number, size: number) => Promise<T>): Promise<T | undefined> {
  let fd: number
  try {
    fd = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw faultOf(error, `object sha256:${hex}`)
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw corrupt(hex, place, 'none: it is no plain file')
    return await use(fd, stat.size)
  } catch (error) {
    throw faultOf(error, `object sha256:${hex}`)
  } finally {
    closeSync(fd)
  }
}
