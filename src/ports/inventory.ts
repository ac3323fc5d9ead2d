import type { Digest } from '../contract/canonical.ts'

/** One object of a snapshot store. */
export interface StoredObject {
  digest: Digest
  bytes: number
  /** When it was written or last relied on by a take, epoch milliseconds. */
  used: number
}

/** The objects of a snapshot store as things to count, prove, copy and clear away. */
export interface ObjectInventory {
  /** Every object, in no order; one that is stored twice comes twice. `stray` is called with whatever lies there and is none. */
  list(stray?: (place: string) => void): AsyncIterable<StoredObject>
  /** What is wrong with an object; undefined where its bytes are those of its name. */
  problem(digest: Digest): Promise<string | undefined>
  /** Streams an object's bytes; false where there is none. They count only if it does not throw. */
  pour(digest: Digest, into: (chunk: Uint8Array) => Promise<void>): Promise<boolean>
  /** Removes objects that nobody needs, unless somebody has relied on them since `unusedSince`. Resolves to how much went, or would go. */
  clear(dead: ReadonlySet<Digest>, unusedSince: number, dryRun: boolean): Promise<{ removed: number; bytes: number }>
  /** Copies objects into the store at another folder, durably. Resolves to those that are not here. */
  copy(digests: Iterable<Digest>, folder: string): Promise<Digest[]>
}
