import { chmodSync, lstatSync, mkdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errnoOf } from '../fault.ts'
import { type Beside, changedEntries, type GitEntry, lookBeside } from './beside.ts'

/**
 * Makes what lies beside the work what it was. A `.git` that was not there is moved to `removed`, so that nothing is lost should it be the user's;
 * settings and hooks are written again; folders without files that are new are removed. May be repeated.
 */
export async function putBeside(root: string, before: Beside, removed: string): Promise<void> {
  const now = await lookBeside(root)
  for (const [place, is] of Object.entries(now.git)) {
    const was = before.git[place]
    if (was === undefined || '' in was !== '' in is) await moveAway(join(root, place), join(removed, place))
    else if (!('' in was)) putEntries(root, place, was, is)
  }
  for (const [place, was] of Object.entries(before.git)) {
    const pointer = was['']
    if (pointer !== undefined && changedEntries(was, now.git[place] ?? {}).length > 0) putEntry(root, place, pointer)
  }
  const known = new Set(before.hollow)
  const { hollow } = await lookBeside(root)
  for (const folder of hollow.filter((path) => !known.has(path)).toReversed()) removeIfEmpty(join(root, folder))
}

/** What was added goes first: it may stand in the way of what is written again. */
function putEntries(root: string, place: string, was: Record<string, GitEntry>, is: Record<string, GitEntry>): void {
  const changed = changedEntries(was, is)
  for (const path of changed) if (was[path] === undefined) rmSync(join(root, place, path), { force: true, recursive: true })
  for (const path of changed) {
    const entry = was[path]
    if (entry !== undefined) putEntry(root, `${place}/${path}`, entry)
  }
}

/** What was too large to be kept, and what is no file, is left as it is. Nothing is written through a link that stands where a folder was. */
function putEntry(root: string, way: string, { kind, mode, content }: GitEntry): void {
  if (content === null) return
  const path = join(root, way)
  for (let cut = way.indexOf('/'); cut !== -1; cut = way.indexOf('/', cut + 1)) {
    const step = join(root, way.slice(0, cut))
    if (lstatSync(step, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(step)
  }
  rmSync(path, { force: true, recursive: true })
  mkdirSync(dirname(path), { recursive: true })
  if (kind === 'link') return symlinkSync(content, path)
  writeFileSync(path, Buffer.from(content, 'base64'), { flag: 'wx', mode })
  chmodSync(path, mode)
}

/** A folder of an earlier move stays: this one gets another name beside it. */
async function moveAway(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  for (let number = 0; ; number += 1) {
    const place = number === 0 ? to : `${to}.${number}`
    try {
      return await rename(from, place)
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === 'ENOENT') return
      if (errno === 'EXDEV') {
        await cp(from, place, { recursive: true, errorOnExist: false, verbatimSymlinks: true })
        return await rm(from, { recursive: true, force: true })
      }
      if ((errno !== 'ENOTEMPTY' && errno !== 'EEXIST' && errno !== 'ENOTDIR' && errno !== 'EISDIR') || number === 1_000) throw error
    }
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno !== 'ENOTEMPTY' && errno !== 'ENOENT' && errno !== 'EEXIST' && errno !== 'ENOTDIR' && errno !== 'EACCES' && errno !== 'EBUSY')
      throw error
  }
}
