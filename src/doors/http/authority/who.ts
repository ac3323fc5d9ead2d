import { sha256Hex } from '../../../contract/canonical.ts'
import { isOwned } from '../../../engine/policy/owner.ts'
import type { HttpWorld } from '../world.ts'

/** Whose token was shown. */
export type Who = { scope: 'owner'; name: string } | { scope: 'worker'; name: string }

/** Longest token that is looked at. */
const longest = 512

/** Tells by a token who shows it. Tokens are told apart by their digests, so that time says nothing. */
export class Tokens {
  readonly #world: HttpWorld
  /** Digest of the owner's token, once the journal has confirmed it: a journal has one owner for good. */
  #owner: string | undefined

  constructor(world: HttpWorld) {
    this.#world = world
  }

  /** Who shows this `Authorization`; undefined where it is nobody known here. */
  async who(header: string | undefined): Promise<Who | undefined> {
    const token = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
    if (token === undefined || token.length > longest) return undefined
    const digest = sha256Hex(token)
    const agent = this.#world.workers.get(digest)
    if (agent !== undefined) return { scope: 'worker', name: agent }
    return (await this.#isOwner(digest)) ? { scope: 'owner', name: this.#world.ownerName } : undefined
  }

  /** A journal that knows its owner believes nobody else; one without believes the owner of this machine. */
  async #isOwner(digest: string): Promise<boolean> {
    if (digest === this.#owner) return true
    const { engine } = this.#world
    if (!(await isOwned(engine.parts))) return digest === engine.parts.ownerToken
    if (!(await engine.isOwner(digest))) return false
    this.#owner = digest
    return true
  }
}
