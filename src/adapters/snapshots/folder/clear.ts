import { randomUUID } from 'node:crypto'
import { renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { errnoOf } from '../fault.ts'
import { openBreather } from '../lanes.ts'
import { maxPathBytes } from '../limits.ts'
import { type Entry, entriesOf } from './entries.ts'
import type { HeldFolder, HeldRoot } from './held.ts'

/** Says of an entry whether it may stay as it is. A folder that stays is not looked into; one that does not is emptied, then removed. */
export type Stays = (entry: Entry, held: HeldFolder) => Promise<boolean> | boolean

/**
 * Removes everything below the root that may not stay. Links are removed, never followed; folders without rights are opened up first;
 * a folder too deep to be addressed is moved up and emptied there. A folder stays where `needed` says so or something in it stayed.
 */
export async function clearFolder(root: HeldRoot, stays: Stays, needed: (folder: string) => boolean): Promise<void> {
  const breathe = openBreather()
  const visited: Entry[] = []
  const queue: string[] = ['']
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const held = root.hold(path)
    try {
      // Listed before anything is removed: some file systems skip entries of a folder that shrinks under the listing.
      for (const entry of [...entriesOf(held, path)]) {
        if (await stays(entry, held)) continue
        if (entry.kind !== 'folder') ignoreGone(() => unlinkSync(held.at(entry.name)))
        else {
          held.unlock(entry.name)
          const inner = reachable(root, held, entry)
          visited.push(inner)
          queue.push(inner.path)
        }
        await breathe()
      }
    } finally {
      held.release()
    }
  }
  for (const folder of visited.reverse()) {
    if (!needed(folder.path)) removeEmpty(root, folder)
    await breathe()
  }
}

/** The folder under a name and path that can be opened: where it has none, it is moved up to the root under a new one. */
function reachable(root: HeldRoot, held: HeldFolder, entry: Entry): Entry {
  if (typeof entry.name === 'string' && Buffer.byteLength(entry.path) <= maxPathBytes) return entry
  const name = `.assay-removing-${randomUUID()}`
  const top = root.hold('')
  try {
    renameSync(held.at(entry.name), top.at(name))
  } finally {
    top.release()
  }
  return { name, path: name, kind: 'folder' }
}

function removeEmpty(root: HeldRoot, folder: Entry): void {
  const cut = folder.path.lastIndexOf('/')
  let parent: HeldFolder
  try {
    parent = root.hold(cut === -1 ? '' : folder.path.slice(0, cut))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return
    throw error
  }
  try {
    rmdirSync(parent.at(folder.name))
  } catch (error) {
    // Something in it stayed, or it is gone already.
    const errno = errnoOf(error)
    if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST' && errno !== 'ENOENT') throw error
  } finally {
    parent.release()
  }
}

function ignoreGone(remove: () => void): void {
  try {
    remove()
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
