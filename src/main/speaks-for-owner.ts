import type { Engine } from '../engine/engine.ts'
import { isOwned } from '../engine/policy/owner.ts'

/** A journal that knows its owner believes nobody else; one without believes the owner of this machine. */
export async function speaksForOwner(engine: Engine, token: string): Promise<boolean> {
  return (await isOwned(engine.parts)) ? engine.isOwner(token) : token === engine.parts.ownerToken
}
