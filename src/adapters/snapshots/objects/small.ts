import { closeSync, openSync, rmSync } from 'node:fs'
import { syncFile } from './durable.ts'
import { PackWriter } from './pack.ts'
import type { Packs } from './packs.ts'

/** New small objects of one batch from which on they go into a pack: a file of its own, and a sync for each, takes longer than the objects. */
const packFrom = 32
/** Size at which a pack is finished and another one begun. */
const largestPack = 256 * 1024 * 1024

export interface SmallObject {
  hex: string
  bytes: Uint8Array
}

/** The new small objects of one batch: a few are handed back to be stored one by one, many are stored in packs. */
export class SmallObjects {
  readonly #shelf: { packs: Packs; temp(): string }
  #few: SmallObject[] = []
  #pack: { writer: PackWriter; fd: number; temp: string } | undefined

  constructor(shelf: { packs: Packs; temp(): string }) {
    this.#shelf = shelf
  }

  /** The bytes are the caller's again when it returns: the buffer that they are in is used for the next file at once. */
  add(hex: string, bytes: Uint8Array): void {
    if (this.#pack) this.#pack.writer.add(hex, bytes)
    else this.#few.push({ hex, bytes: Uint8Array.from(bytes) })
  }

  /** Begins a pack where there are many by now, and ends one that is large enough. */
  async tidy(): Promise<void> {
    if (!this.#pack && this.#few.length > packFrom) {
      const { writer } = this.#open()
      for (const one of this.#few.splice(0)) writer.add(one.hex, one.bytes)
    }
    if (this.#pack && this.#pack.writer.size > largestPack) await this.#finishPack()
  }

  /** What is in packs is durable when it resolves; the few that are in none are the caller's to store. */
  async finish(): Promise<SmallObject[]> {
    await this.#finishPack()
    return this.#few.splice(0)
  }

  /** Whatever was not finished leaves nothing behind. */
  discard(): void {
    if (!this.#pack) return
    const { fd, temp } = this.#pack
    this.#pack = undefined
    closeSync(fd)
    rmSync(temp, { force: true })
  }

  #open() {
    const temp = this.#shelf.temp()
    const fd = openSync(temp, 'wx', 0o600)
    this.#pack = { fd, temp, writer: new PackWriter(fd) }
    return this.#pack
  }

  async #finishPack(): Promise<void> {
    if (!this.#pack) return
    const { writer, fd, temp } = this.#pack
    // Whatever comes from here on goes into another one.
    this.#pack = undefined
    try {
      writer.finish()
      await syncFile(fd)
      await this.#shelf.packs.shelve(temp)
    } finally {
      closeSync(fd)
      rmSync(temp, { force: true })
    }
  }
}
