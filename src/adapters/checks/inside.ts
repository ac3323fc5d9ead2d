import { readlink, realpath, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { openWithoutFollowing } from '../process/files/plain-file.ts'

const longestPath = 4096

export type Inside =
  /** Opened and proven to lie in the folder; whoever asked closes it. */
  | { kind: 'file'; handle: FileHandle; size: number }
  | { kind: 'folder'; path: string }
  | { kind: 'missing' }
  /** Something is there that a check does not touch: a link, a pipe, a device, or what cannot be opened. */
  | { kind: 'refused'; why: string }
  /** The path itself cannot be meant: whoever wrote the check has to mend it. */
  | { kind: 'bad_path'; why: string }

/** Opens what a relative path means inside a folder that somebody else has filled. It is opened first and checked afterwards, so that nothing can be exchanged in between. */
export async function openInside(folder: string, path: string): Promise<Inside> {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.')
  if (path === '' || path.includes('\0') || path.length > longestPath)
    return { kind: 'bad_path', why: 'it is empty, too long or has a NUL' }
  if (path.startsWith('/') || steps.includes('..'))
    return { kind: 'bad_path', why: 'it leads out of the workspace; write it relative to the workspace, without `..`' }
  const root = await realpath(folder)
  const wanted = join(root, ...steps)
  const opened = await openWithoutFollowing(wanted)
  if (!('handle' in opened)) return opened.code === 'missing' ? { kind: 'missing' } : { kind: 'refused', why: opened.message }
  const found = await examine(opened.handle, wanted)
  if (found.kind !== 'file') await opened.handle.close()
  return found
}

async function examine(handle: FileHandle, wanted: string): Promise<Inside> {
  const state = await handle.stat()
  if ((await placeOf(handle, wanted)) !== wanted) return { kind: 'refused', why: 'a symbolic link is on the way to it' }
  if (state.isDirectory()) return { kind: 'folder', path: wanted }
  if (!state.isFile()) return { kind: 'refused', why: 'it is neither a plain file nor a folder' }
  return { kind: 'file', handle, size: state.size }
}

/** Where the opened thing really is. The kernel tells on Linux; elsewhere the path is resolved and must still mean the same thing. */
async function placeOf(handle: FileHandle, wanted: string): Promise<string | undefined> {
  if (process.platform === 'linux') return await readlink(`/proc/self/fd/${handle.fd}`)
  const [opened, named, place] = await Promise.all([handle.stat(), stat(wanted), realpath(wanted)])
  return opened.ino === named.ino && opened.dev === named.dev ? place : undefined
}
