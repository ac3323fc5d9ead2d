import { mkdtempSync, readdirSync, unlinkSync } from 'node:fs'
import { chmod, readdir, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Entries up to which a folder is emptied on the spot; the way through the pool of threads takes longer than that. */
const fewEntries = 8

/** Runs `use` with a new folder that only this user can enter, and removes it afterwards whatever was put into it. */
export async function withPrivateFolder<T>(use: (folder: string) => Promise<T>, root = tmpdir()): Promise<T> {
  const folder = mkdtempSync(join(root, 'assay-run-'))
  try {
    return await use(folder)
  } finally {
    await removeWhole(folder)
  }
}

/** The same for what often needs none: the folder is made when it is first asked for. */
export async function withPrivateFolderAtNeed<T>(use: (folder: () => string) => Promise<T>, root = tmpdir()): Promise<T> {
  let made: string | undefined
  const folder = () => {
    made ??= mkdtempSync(join(root, 'assay-run-'))
    return made
  }
  try {
    return await use(folder)
  } finally {
    if (made !== undefined) await removeWhole(made)
  }
}

async function removeWhole(folder: string): Promise<void> {
  if (!(await removedQuickly(folder))) await remove(folder)
}

/**
 * Most runs leave nothing, or a file and an empty folder. False where there is more, or anything in the way. The system may take milliseconds to remove
 * a folder, while others wait for the disk, which is not waited for on the spot.
 */
async function removedQuickly(folder: string): Promise<boolean> {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    if (entries.length > fewEntries) return false
    for (const entry of entries) {
      if (entry.isDirectory()) await rmdir(join(folder, entry.name))
      else unlinkSync(join(folder, entry.name))
    }
    await rmdir(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    return false
  }
}

/** A process can take the rights from its own folders; they are given back first where that is in the way. */
async function remove(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    await openUp(folder)
    await rm(folder, { recursive: true, force: true })
  }
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(folder, entry.name))
  }
}
