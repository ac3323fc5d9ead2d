import { randomBytes } from 'node:crypto'
import { closeSync, constants, fchmodSync, lstatSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { excerpt } from '../../../../contract/source/shown.ts'
import { readPlainFileNow } from '../../../process/files/plain-file.ts'
import { type Grounds, isKept, openFolder, type OpenFolder, reason, type Refusal, stepsOf } from './inside.ts'

/** Most bytes of a file that is opened. */
const largestFile = 8 * 1024 * 1024

/** Folders whose files are in no snapshot, at any depth: version control, Assay's own, installed packages. */
const notWork = new Set(['.git', '.assay', 'node_modules'])

/** The text of a file of the workspace. */
export async function readText(grounds: Grounds, path: string): Promise<{ text: string } | Refusal> {
  return await withParent(grounds, path, false, grounds.hidden, (folder, name) => textIn(folder, name, path))
}

/** Reads a file through its folder. */
export function textIn(folder: OpenFolder, name: string, path: string): { text: string } | Refusal {
  const read = readPlainFileNow(folder.at(name), largestFile)
  if (!('bytes' in read)) return { why: `${excerpt(path)} cannot be read: ${read.message}.` }
  const text = decoded(read.bytes)
  return text === undefined ? { why: `${excerpt(path)} is no text; it has ${read.bytes.length} bytes.` } : { text }
}

/**
 * Writes a whole file. The new content is put in the place of the old one: a file that has another name elsewhere (a hard link) is not changed
 * there, and nobody ever sees half of it.
 */
export async function writeText(grounds: Grounds, path: string, text: string): Promise<{ created: boolean } | Refusal> {
  const apart = path.split('/').find((step) => notWork.has(step.toLowerCase()))
  if (apart !== undefined) return { why: `${excerpt(path)} may not be written: ${excerpt(apart)} is no work, and nobody would review it.` }
  return await withParent(grounds, path, true, [...grounds.hidden, ...grounds.readOnly], async (folder, name) => {
    const place = folder.at(name)
    const old = lstatSync(place, { throwIfNoEntry: false })
    if (old !== undefined && !old.isFile()) return { why: `${excerpt(path)} is no plain file; it is left as it is.` }
    const draft = folder.at(`.assay-draft-${randomBytes(8).toString('hex')}`)
    const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o644)
    try {
      try {
        if (old !== undefined) fchmodSync(file, old.mode & 0o777)
        writeFileSync(file, text)
      } finally {
        closeSync(file)
      }
      // Some file systems (ext4) write a file to the disk when it takes another's place: nobody else waits for that.
      if (old === undefined) renameSync(draft, place)
      else await rename(draft, place)
    } catch (error) {
      unlinkSync(draft)
      throw error
    }
    return { created: old === undefined }
  })
}

/** Puts `now` in the place of `was`, which has to stand in the file exactly once. */
export async function editText(grounds: Grounds, path: string, was: string, now: string): Promise<{ line: number } | Refusal> {
  const file = await readText(grounds, path)
  if ('why' in file) return file
  const at = file.text.indexOf(was)
  if (at < 0)
    return { why: `The text to replace does not stand in ${excerpt(path)}. It has to match exactly, blanks and line ends included.` }
  if (file.text.indexOf(was, at + 1) >= 0)
    return {
      why: `The text to replace stands in ${excerpt(path)} more than once. Take more of what is around it, so that only one place matches.`,
    }
  const written = await writeText(grounds, path, file.text.slice(0, at) + now + file.text.slice(at + was.length))
  return 'why' in written ? written : { line: file.text.slice(0, at).split('\n').length }
}

async function withParent<T>(
  grounds: Grounds,
  path: string,
  make: boolean,
  kept: readonly string[],
  use: (folder: OpenFolder, name: string) => Promise<T | Refusal> | T | Refusal,
): Promise<T | Refusal> {
  const steps = stepsOf(path)
  if ('why' in steps) return steps
  const name = steps.at(-1)
  if (name === undefined) return { why: 'The path names no file.' }
  if (isKept(grounds, steps, kept)) return { why: `${excerpt(path)} may not be touched.` }
  const folder = openFolder(grounds, steps.slice(0, -1), make)
  if ('why' in folder) return { why: `${excerpt(path)} cannot be reached: ${folder.why}` }
  try {
    return await use(folder, name)
  } catch (error) {
    return { why: `${excerpt(path)}: ${reason(error)}.` }
  } finally {
    folder.close()
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Text is UTF-8 without NUL; anything else would not survive being written back. */
function decoded(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return utf8.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
