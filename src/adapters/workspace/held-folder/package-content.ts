import { createHash, type Hash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errnoOf } from '../fault.ts'
import { isProgram, programContent } from './programs.ts'
import type { Packages } from './record.ts'

/** Bytes of packages that are read for one look; of what is left over, only how it stands is known. */
const mostBytes = 1024 * 1024 * 1024
const pieceBytes = 1024 * 1024
/** How long the look may hold up everybody else. */
const sliceMs = 5

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

interface Reading {
  left: number
  since: number
  piece: Buffer
}

/** Reads what packages and programs contain: the same files installed again come to the same. Undefined where there is more than may be read. */
export function packageReader(root: string): (path: string) => Promise<string | undefined> {
  const reading: Reading = { left: mostBytes, since: performance.now(), piece: Buffer.allocUnsafe(pieceBytes) }
  const read = async (path: string) => {
    const digest = createHash('sha256')
    const open = ['']
    for (let inner = open.pop(); inner !== undefined; inner = open.pop()) {
      const folder = await noteContent(reading, digest, join(root, path, inner), inner)
      for (const name of folder) open.push(inner === '' ? name : `${inner}/${name}`)
      if (reading.left < 0) return undefined
    }
    return digest.digest('hex')
  }
  return (path) => (isProgram(path) ? programContent(root, path, read) : read(path))
}

/** Content of every package, read only where it does not stand as it did when it was read before. */
export async function readPackages(root: string, now: Packages, known: Packages): Promise<Packages> {
  const read = packageReader(root)
  const contents: Packages = {}
  for (const [path, stands] of Object.entries(now)) {
    const content = known[`${path}\0${stands}`] ?? (await read(path))
    if (content !== undefined) contents[path] = content
  }
  return contents
}

/** Notes one entry; resolves to the names in it, the last first, where it is a folder. */
async function noteContent(reading: Reading, digest: Hash, path: string, inner: string): Promise<string[]> {
  if (performance.now() - reading.since > sliceMs) {
    await nextTurn()
    reading.since = performance.now()
  }
  try {
    const stat = lstatSync(path)
    if (stat.isSymbolicLink()) digest.update(`${inner}\0link\0${readlinkSync(path)}\0`)
    else if (stat.isFile()) await noteFile(reading, digest, path, `${inner}\0file\0${(stat.mode & 0o111) !== 0}\0${stat.size}\0`)
    else digest.update(`${inner}\0${stat.isDirectory() ? 'folder' : 'other'}\0`)
    return stat.isDirectory() ? readdirSync(path).sort().reverse() : []
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === undefined) throw error
    digest.update(`${inner}\0${errno}\0`)
    return []
  }
}

async function noteFile(reading: Reading, digest: Hash, path: string, head: string): Promise<void> {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    digest.update(head)
    if (!fstatSync(fd).isFile()) return
    for (let size = readSync(fd, reading.piece); size > 0 && reading.left >= 0; size = readSync(fd, reading.piece)) {
      digest.update(reading.piece.subarray(0, size))
      reading.left -= size
      if (size === pieceBytes) await nextTurn()
    }
  } finally {
    closeSync(fd)
  }
}
