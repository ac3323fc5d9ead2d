import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, realpathSync, unlinkSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Digest } from '../../contract/canonical.ts'
import type { SnapshotProblem, SnapshotStore } from '../../ports/snapshots.ts'
import { errnoOf, problemOf } from './fault.ts'
import { clearFolder } from './folder/clear.ts'
import { defaultHolding, holdRoot, isLocked, unlockFolder } from './folder/held.ts'
import { copyPrefix, type InstalledFor, linkPackages } from './packages.ts'

export type PrivateCopy =
  /** `dispose` removes the copy whatever became of it; a second call does nothing. */
  { ok: true; folder: string; dispose: () => Promise<void> } | { ok: false; problem: SnapshotProblem }

export interface CopyOptions {
  readOnly?: boolean
  /** What is installed there is linked into the copy. */
  packages?: InstalledFor
}

/**
 * Where copies of a project's work are made: outside of it, for tools that look for settings and packages further up would find live files of a worker.
 * The folder is this user's alone.
 */
export function copiesFolder(project: string): string {
  const name = `assay-copies-${process.getuid?.() ?? 'own'}`
  for (const place of [tmpdir(), '/tmp', '/var/tmp']) {
    const folder = isOutside(project, place) ? join(place, name) : undefined
    if (folder !== undefined && isOwn(folder)) return folder
  }
  const last = join(project, '.assay', 'copies')
  mkdirSync(last, { recursive: true, mode: 0o700 })
  return last
}

function isOutside(project: string, place: string): boolean {
  try {
    const way = relative(realpathSync(project), realpathSync(place))
    return way === '..' || way.startsWith('../')
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return false
  }
}

/** Makes the folder, or finds it as this user made it: not another's, not a link, open to nobody else. */
function isOwn(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') return false
  }
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === (process.getuid?.() ?? stat.uid) && (stat.mode & 0o077) === 0
}

/** A private copy of a snapshot, for one judge or one check that may do with it what it likes. */
export async function materialise(
  snapshots: SnapshotStore,
  digest: Digest,
  parentTemp: string,
  { packages, ...options }: CopyOptions = {},
): Promise<PrivateCopy> {
  const folder = join(parentTemp, `${copyPrefix}${randomUUID()}`)
  try {
    makeIn(parentTemp, folder)
  } catch (error) {
    return { ok: false, problem: problemOf(error, `private copy of ${digest}`) }
  }
  const restored = await snapshots.restore(digest, folder, options)
  if (!restored.ok) {
    await removeFolder(folder)
    return restored
  }
  const manifest = packages && (await snapshots.manifest(digest))
  try {
    if (manifest && packages) linkPackages(folder, packages, manifest)
  } catch (error) {
    await removeFolder(folder)
    return { ok: false, problem: problemOf(error, `installed packages for a copy of ${digest}`) }
  }
  return { ok: true, folder, dispose: () => removeFolder(folder) }
}

/** The parent is there but for the first time. */
function makeIn(parent: string, folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(parent, { recursive: true, mode: 0o700 })
    mkdirSync(folder, { mode: 0o700 })
  }
}

/** Removes copies that a process left behind when it was killed. */
export async function removeStaleCopies(parentTemp: string, olderThanMs: number): Promise<number> {
  let removed = 0
  for (const name of readdirOrNone(parentTemp)) {
    const folder = join(parentTemp, name)
    const stat = name.startsWith(copyPrefix) ? lstatSync(folder, { throwIfNoEntry: false }) : undefined
    if (stat === undefined || Date.now() - stat.mtimeMs < olderThanMs) continue
    if (await sweptAway(folder)) removed += 1
  }
  return removed
}

/** Others sweep at the same time, and what cannot be removed now is left to whoever comes next: nobody's work depends on it. */
async function sweptAway(folder: string): Promise<boolean> {
  try {
    await removeFolder(folder)
    return true
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return false
  }
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
  if (isLocked(stat)) unlockFolder(folder, defaultHolding)
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
