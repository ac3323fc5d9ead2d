import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Digest } from '../../contract/canonical.ts'
import type { ObjectInventory, StoredObject } from '../../ports/inventory.ts'
import { errnoOf, faultOf, SnapshotFault } from './fault.ts'
import { sha256Of } from './folder/file.ts'
import { smallBytes } from './limits.ts'
import { clearObjects } from './objects/clearing.ts'
import { diskObjects } from './objects/disk.ts'
import type { ObjectBatch, Objects, ObjectWriter } from './objects/objects.ts'
import { readPacked } from './objects/pack.ts'
import { Packs } from './objects/packs.ts'

const hexOf = (digest: Digest): string => digest.slice('sha256:'.length)
/** Objects that become durable together while copying. */
const copiedAtOnce = 10_000

/** The objects of the store in a folder (`.assay/objects`), as they lie on disk: files of their own, and packs of many. */
export function openInventory(folder: string): ObjectInventory {
  const objects = diskObjects(folder)
  const packs = new Packs(folder)
  return {
    list: (stray) => listObjects(folder, packs, stray ?? (() => undefined)),
    problem: async (digest) => (await looseProblem(objects, digest)) ?? packedProblem(packs, hexOf(digest)),
    pour: (digest, into) => objects.pour(hexOf(digest), into),
    clear: (dead, unusedSince, dryRun) => clearObjects({ folder, objects, dead: new Set([...dead].map(hexOf)), unusedSince, dryRun }),
    copy: (digests, to) => copyObjects(objects, digests, to),
  }
}

async function* listObjects(folder: string, packs: Packs, stray: (place: string) => void): AsyncGenerator<StoredObject> {
  for (const fan of entriesOf(folder)) {
    if (fan.name === 'tmp' || fan.name === 'packs') continue
    if (!fan.isDirectory() || !/^[0-9a-f]{2}$/.test(fan.name)) {
      stray(fan.name)
      continue
    }
    for (const { name } of entriesOf(join(folder, fan.name))) {
      const stat = lstatSync(join(folder, fan.name, name), { throwIfNoEntry: false })
      if (!/^[0-9a-f]{62}$/.test(name)) stray(`${fan.name}/${name}`)
      else if (stat) yield { digest: `sha256:${fan.name}${name}`, bytes: stat.size, used: stat.mtimeMs }
    }
    await nextTurn()
  }
  packs.refresh()
  const { packs: whole, damaged } = packs.all()
  for (const name of damaged) stray(`packs/${name}`)
  for (const { file, index } of whole) {
    const used = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (used !== undefined) for (const { hex, size } of index.entries()) yield { digest: `sha256:${hex}`, bytes: size, used }
    await nextTurn()
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

async function looseProblem(objects: Objects, digest: Digest): Promise<string | undefined> {
  try {
    const there = await objects.pour(hexOf(digest), async () => undefined)
    return there ? undefined : 'it is not in the store'
  } catch (error) {
    if (error instanceof SnapshotFault) return error.message
    throw error
  }
}

/** Every copy counts: one that nobody reads today is read when the other is gone. */
function packedProblem(packs: Packs, hex: string): string | undefined {
  for (const { file, index } of packs.all().packs) {
    const at = index.find(hex)
    const bytes = at && readPacked(file, at)
    if (bytes && sha256Of(bytes) !== hex) return `its copy in ${file} is corrupt`
  }
  return undefined
}

async function copyObjects(from: Objects, digests: Iterable<Digest>, folder: string): Promise<Digest[]> {
  const to = diskObjects(folder)
  const missing: Digest[] = []
  let batch = to.begin()
  let count = 0
  try {
    for (const digest of digests) {
      if (!(await copyOne(from, hexOf(digest), batch))) missing.push(digest)
      count += 1
      if (count % copiedAtOnce !== 0) continue
      await batch.commit()
      batch = to.begin()
    }
    await batch.commit()
  } catch (error) {
    throw faultOf(error, `copying objects to ${folder}`)
  } finally {
    await batch.settle()
  }
  return missing
}

/** Small objects are handed over whole, so that many of them can share a file; larger ones stream. */
async function copyOne(from: Objects, hex: string, batch: ObjectBatch): Promise<boolean> {
  const held: Uint8Array[] = []
  let size = 0
  let writer: ObjectWriter | undefined
  try {
    const there = await from.pour(hex, async (chunk) => {
      size += chunk.length
      if (size <= smallBytes) return void held.push(Uint8Array.from(chunk))
      writer ??= batch.writer()
      for (const piece of held.splice(0)) await writer.write(piece)
      await writer.write(chunk)
    })
    if (there && writer) await writer.finish(hex)
    else if (there) await batch.put(hex, Buffer.concat(held))
    return there
  } finally {
    await writer?.discard()
  }
}
