import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, unlinkSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Digest } from '../../contract/canonical.ts'
import type { SnapshotProblem, SnapshotStore } from '../../ports/snapshots.ts'
import { errnoOf, problemOf } from './fault.ts'
import { clearFolder } from './folder/clear.ts'
import { defaultHolding, holdRoot, unlockFolder } from './folder/held.ts'

const prefix = 'copy-'

export type PrivateCopy =
  /** `dispose` removes the copy whatever became of it; a second call does nothing. */
  { ok: true; folder: string; dispose: () => Promise<void> } | { ok: false; problem: SnapshotProblem }

/** A private copy of a snapshot, for one judge or one check that may do with it what it likes. */
export async function materialise(
  snapshots: SnapshotStore,
  digest: Digest,
  parentTemp: string,
  options: { readOnly?: boolean } = {},
): Promise<PrivateCopy> {
  const folder = join(parentTemp, `${prefix}${randomUUID()}`)
  try {
    makeIn(parentTemp, folder)
  } catch (error) {
    return { ok: false, problem: problemOf(error, `private copy of ${digest}`) }
  }
  const restored = await snapshots.restore(digest, folder, options)
  if (restored.ok) return { ok: true, folder, dispose: () => removeFolder(folder) }
  await removeFolder(folder)
  return restored
}

/** The parent is there but for the first time. */
function makeIn(parent: string, folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(parent, { recursive: true })
    mkdirSync(folder, { mode: 0o700 })
  }
}

/** Removes copies that a process left behind when it was killed. */
export async function removeStaleCopies(parentTemp: string, olderThanMs: number): Promise<number> {
  let removed = 0
  for (const name of readdirOrNone(parentTemp)) {
    const folder = join(parentTemp, name)
    const stat = name.startsWith(prefix) ? lstatSync(folder, { throwIfNoEntry: false }) : undefined
    if (stat === undefined || Date.now() - stat.mtimeMs < olderThanMs) continue
    await removeFolder(folder)
    removed += 1
  }
  return removed
}

function readdirOrNone(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Removes a folder and all in it: no link is followed, and missing rights inside are no obstacle. Nothing there is fine. */
async function removeFolder(folder: string): Promise<void> {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (!stat.isDirectory()) return unlinkSync(folder)
  unlockFolder(folder, defaultHolding)
  const root = holdRoot(folder, defaultHolding)
  try {
    await clearFolder(
      root,
      () => false,
      () => false,
    )
  } finally {
    root.release()
  }
  await rmdir(folder)
}
