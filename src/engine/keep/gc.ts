import type { Digest } from '../../contract/canonical.ts'
import type { Clock } from '../../ports/clock.ts'
import { type KeptParts, reachableObjects } from './reachable.ts'

export interface Cleared {
  objects: number
  bytes: number
  removed: number
  removedBytes: number
  /** Nothing refers to them, but they are too young to go. */
  young: number
}

export interface GcOptions {
  graceMs: number
  dryRun: boolean
  /** Texts outside the journal that name objects: records of workspaces. Read anew at each look. */
  further: () => Iterable<string>
  clock: Pick<Clock, 'now'>
}

/** Shortest grace: longer than a take may rely on an object without marking it, and than work may hold one before its event. */
export const minGraceMs = 2 * 3_600_000

/**
 * Removes objects that nothing refers to and nobody has relied on for the grace time. What is listed is listed before the journal is
 * read, so that an object whose event came meanwhile is seen as referred to; one that is relied on meanwhile is left by `clear`.
 */
export async function clearAway(parts: KeptParts, { graceMs, dryRun, further, clock }: GcOptions): Promise<Cleared> {
  const unusedSince = clock.now() - Math.max(graceMs, minGraceMs)
  let [objects, bytes] = [0, 0]
  const old = new Set<Digest>()
  const young: Digest[] = []
  for await (const { digest, bytes: size, used } of parts.inventory.list()) {
    objects += 1
    bytes += size
    if (used <= unusedSince) old.add(digest)
    else young.push(digest)
  }
  const reached = await reachableObjects(parts, further())
  for (const digest of old) if (reached.has(digest)) old.delete(digest)
  const cleared = await parts.inventory.clear(old, unusedSince, dryRun)
  return {
    objects,
    bytes,
    removed: cleared.removed,
    removedBytes: cleared.bytes,
    young: young.filter((digest) => !reached.has(digest)).length,
  }
}
