import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

export type FileProblem = { code: 'missing' | 'refused' | 'too_large'; message: string }

/** Bytes of a file that somebody else wrote: never through a symlink, never from a pipe or device, never more than the limit. */
export async function readPlainFile(path: string, maxBytes: number): Promise<{ bytes: Buffer } | FileProblem> {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { code: 'missing', message: 'it does not exist' }
  const opened = await openWithoutFollowing(path)
  if (!('handle' in opened)) return opened
  try {
    const stat = await opened.handle.stat()
    if (!stat.isFile()) return { code: 'refused', message: 'it is not a plain file' }
    return await readUpTo(opened.handle, maxBytes)
  } finally {
    await opened.handle.close()
  }
}

/** The same on the spot, for one file that somebody waits for: it is read sooner than the pool of threads would begin with it. */
export function readPlainFileNow(path: string, maxBytes: number): { bytes: Buffer } | FileProblem {
  let file: number
  try {
    file = openSync(path, withoutFollowing)
  } catch (error) {
    return notOpened(error)
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return { code: 'refused', message: 'it is not a plain file' }
    // One more than it has shows its end with the first read.
    const bytes = Buffer.allocUnsafe(Math.min(stat.size, maxBytes) + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got) got = readSync(file, bytes, length, bytes.length - length, length)
    if (length > maxBytes) return tooLarge(maxBytes)
    return length === bytes.length ? { code: 'refused', message: 'it grows while it is read' } : { bytes: bytes.subarray(0, length) }
  } finally {
    closeSync(file)
  }
}

const withoutFollowing = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Opens without following a symlink in the last place and without waiting for the other end of a pipe. */
export async function openWithoutFollowing(path: string): Promise<{ handle: FileHandle } | FileProblem> {
  try {
    return { handle: await open(path, withoutFollowing) }
  } catch (error) {
    return notOpened(error)
  }
}

function notOpened(error: unknown): FileProblem {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return { code: 'missing', message: 'it does not exist' }
  if (code === 'ELOOP') return { code: 'refused', message: 'it is a symbolic link' }
  return { code: 'refused', message: `it cannot be opened: ${code ?? message}` }
}

function tooLarge(maxBytes: number): FileProblem {
  return { code: 'too_large', message: `it has more than ${maxBytes} bytes, the most that is read` }
}

/** Reads to the end; a file that grows while it is read cannot bring more than the limit either. */
export async function readUpTo(handle: FileHandle, maxBytes: number): Promise<{ bytes: Buffer } | FileProblem> {
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.alloc(Math.min(64 * 1024, maxBytes + 1 - length))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, length)
    if (bytesRead === 0) return { bytes: Buffer.concat(chunks, length) }
    chunks.push(chunk.subarray(0, bytesRead))
    length += bytesRead
    if (length > maxBytes) return tooLarge(maxBytes)
  }
}
