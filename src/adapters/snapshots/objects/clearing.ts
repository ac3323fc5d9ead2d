import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, renameSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errnoOf } from '../fault.ts'
import { sha256Of } from '../folder/file.ts'
import type { Objects } from './objects.ts'
import { type PackIndex, readPacked } from './pack.ts'
import { Packs } from './packs.ts'

export interface Clearing {
  folder: string
  objects: Objects
  /** Names of objects that nobody needs, hex. */
  dead: ReadonlySet<string>
  /** What was used after this time, epoch milliseconds, stays. */
  unusedSince: number
  dryRun: boolean
}

export interface ClearedBytes {
  removed: number
  bytes: number
}

/** Removes objects that nobody needs: files of their own, and packs that hold little else. */
export async function clearObjects(clearing: Clearing): Promise<ClearedBytes> {
  const cleared: ClearedBytes = { removed: 0, bytes: 0 }
  for (const hex of clearing.dead) {
    const place = join(clearing.folder, hex.slice(0, 2), hex.slice(2))
    const bytes = clearFile(clearing, place)
    if (bytes === undefined) continue
    cleared.removed += 1
    cleared.bytes += bytes
  }
  const packs = new Packs(clearing.folder)
  packs.refresh()
  for (const { file, index } of packs.all().packs) {
    const packed = await clearPack(clearing, file, index)
    cleared.removed += packed.removed
    cleared.bytes += packed.bytes
  }
  return cleared
}

/** A pack goes when at least half of its bytes are needed by nobody; what is needed of it is stored anew before. */
async function clearPack(clearing: Clearing, file: string, index: PackIndex): Promise<ClearedBytes> {
  const nothing = { removed: 0, bytes: 0 }
  const stat = lstatSync(file, { throwIfNoEntry: false })
  const entries = [...index.entries()]
  const dead = entries.filter(({ hex }) => clearing.dead.has(hex))
  const bytes = dead.reduce((sum, { size }) => sum + size, 0)
  const total = entries.reduce((sum, { size }) => sum + size, 0)
  if (!stat || stat.mtimeMs > clearing.unusedSince || dead.length === 0 || bytes * 2 < total) return nothing
  if (!clearing.dryRun) {
    const live = entries.filter(({ hex }) => !clearing.dead.has(hex))
    if (!(await storeAnew(clearing.objects, file, live))) return nothing
    if (clearFile(clearing, file) === undefined) return nothing
  }
  return { removed: dead.length, bytes }
}

/** False where one of them is not what its name says: then the pack is evidence, and stays. */
async function storeAnew(objects: Objects, file: string, live: { hex: string; offset: number; size: number }[]): Promise<boolean> {
  const batch = objects.begin()
  try {
    for (const { hex, ...at } of live) {
      const bytes = readPacked(file, at)
      if (!bytes || sha256Of(bytes) !== hex) return false
      await batch.put(hex, bytes)
    }
    await batch.commit()
    return true
  } finally {
    await batch.settle()
  }
}

/**
 * Removes a file unless it was used meanwhile; resolves to its size where it is gone. It is moved aside before it is looked at for the
 * last time: a take that marked it as used before finds it put back, and one that comes after finds nothing and writes anew.
 */
function clearFile({ folder, unusedSince, dryRun }: Clearing, place: string): number | undefined {
  const before = lstatSync(place, { throwIfNoEntry: false })
  if (!before || before.mtimeMs > unusedSince) return undefined
  if (dryRun) return before.size
  const aside = join(folder, 'tmp', `cleared-${randomUUID()}-${basename(place)}`)
  mkdirSync(join(folder, 'tmp'), { recursive: true })
  try {
    renameSync(place, aside)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  if (lstatSync(aside).mtimeMs > unusedSince) {
    renameSync(aside, place)
    return undefined
  }
  unlinkSync(aside)
  return before.size
}
