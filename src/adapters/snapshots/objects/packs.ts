import { randomUUID } from 'node:crypto'
import { chmodSync, lstatSync, readdirSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errnoOf } from '../fault.ts'
import { makeFolder, syncFolder } from './durable.ts'
import { keepFresh } from './fresh.ts'
import { type Packed, type PackIndex, readPackIndex } from './pack.ts'

interface Pack {
  file: string
  index: PackIndex
  /** Known to be durable, name included. */
  sealed: boolean
  markedMs: number
}

/** The packs of a store, in its folder `packs`. Other processes add to them and clear them away. */
export class Packs {
  readonly folder: string
  #packs = new Map<string, Pack>()
  #damaged = new Set<string>()
  #listedMs = -1
  /** The folder itself is known to be durable. */
  #rooted = false

  constructor(objects: string) {
    this.folder = join(objects, 'packs')
  }

  /** Looks which packs there are, where that has changed. */
  refresh(): void {
    const changed = statSync(this.folder, { throwIfNoEntry: false })?.mtimeMs ?? 0
    // A listing of the very moment of a change may have missed its end.
    if (changed === this.#listedMs && Date.now() - changed > 1_000) return
    this.#listedMs = changed
    const names = new Set(listed(this.folder))
    for (const name of this.#packs.keys()) if (!names.has(name)) this.#packs.delete(name)
    for (const name of names) if (!this.#packs.has(name)) this.#add(name)
  }

  /** The pack that holds an object, and where in it. */
  find(hex: string): { pack: Pack; at: Packed } | undefined {
    for (const pack of this.#packs.values()) {
      const at = pack.index.find(hex)
      if (at) return { pack, at }
    }
    return undefined
  }

  /** Marks the pack as used; false where it has vanished or cannot be marked: then what it held has to be written anew. */
  rely(pack: Pack): boolean {
    if (!keepFresh(pack.file, pack.markedMs)) return false
    pack.markedMs = Math.max(pack.markedMs, statSync(pack.file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    return true
  }

  all(): { packs: readonly Pack[]; damaged: readonly string[] } {
    return { packs: [...this.#packs.values()], damaged: [...this.#damaged] }
  }

  /** Takes up a file that is whole and durable but has no name yet. */
  async shelve(temp: string): Promise<void> {
    await makeFolder(this.folder)
    if (!this.#rooted) await syncFolder(dirname(this.folder))
    this.#rooted = true
    const name = `${randomUUID()}.pack`
    renameSync(temp, join(this.folder, name))
    this.#add(name)
    await this.seal()
  }

  /** Makes the names of all packs durable, then marks them, so that later takes need not do it again. */
  async seal(): Promise<void> {
    const unsealed = [...this.#packs.values()].filter(({ sealed }) => !sealed)
    if (unsealed.length === 0) return
    await syncFolder(this.folder)
    for (const pack of unsealed) {
      chmodSync(pack.file, 0o444)
      pack.sealed = true
    }
  }

  #add(name: string): void {
    const file = join(this.folder, name)
    const stat = lstatSync(file, { throwIfNoEntry: false })
    const index = stat?.isFile() && name.endsWith('.pack') ? readPackIndex(file) : undefined
    if (index && stat) this.#packs.set(name, { file, index, sealed: (stat.mode & 0o222) === 0, markedMs: stat.mtimeMs })
    else if (stat) this.#damaged.add(basename(file))
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}
