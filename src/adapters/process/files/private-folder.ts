import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs `use` with a new folder that only this user can enter, and removes it afterwards whatever was put into it. */
export async function withPrivateFolder<T>(use: (folder: string) => Promise<T>, root = tmpdir()): Promise<T> {
  const folder = await mkdtemp(join(root, 'assay-run-'))
  try {
    return await use(folder)
  } finally {
    await remove(folder)
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
