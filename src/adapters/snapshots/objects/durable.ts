import { closeSync, constants, fsync, mkdirSync, openSync, write, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const { O_RDONLY, O_DIRECTORY = 0 } = constants

/** Writes all of it: one call may take less than it was given without saying so. */
export function writeAllSync(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const written = writeSync(fd, bytes, done, bytes.length - done)
    if (written === 0) throw nothingWritten()
    done += written
  }
}

/** The same without holding up anybody. */
export async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const from = done
    const written = await new Promise<number>((resolve, reject) => {
      write(fd, bytes, from, bytes.length - from, null, (error, count) => (error ? reject(error) : resolve(count)))
    })
    if (written === 0) throw nothingWritten()
    done += written
  }
}

function nothingWritten(): Error {
  return Object.assign(new Error('ENOSPC: a write took no bytes'), { code: 'ENOSPC', syscall: 'write' })
}

export function syncFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()))
  })
}

/** Makes the names in a folder durable. Windows cannot open a folder for that and keeps names durable by itself. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const fd = openSync(folder, O_RDONLY | O_DIRECTORY)
  try {
    await syncFile(fd)
  } finally {
    closeSync(fd)
  }
}

/** Makes the folder and its parents, durably. */
export async function makeFolder(folder: string): Promise<void> {
  const first = mkdirSync(folder, { recursive: true })
  if (first === undefined) return
  for (let parent = dirname(folder); ; parent = dirname(parent)) {
    await syncFolder(parent)
    if (parent === dirname(first) || parent === dirname(parent)) return
  }
}
