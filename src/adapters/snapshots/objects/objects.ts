import { SnapshotFault } from '../fault.ts'

/** A new object on its way into the store. It exists once `finish` is through, whole or not at all. */
export interface ObjectWriter {
  write(chunk: Uint8Array): Promise<void>
  /** `hex` is the sha256 of everything written. */
  finish(hex: string): Promise<void>
  discard(): Promise<void>
}

/** Objects that become durable together. */
export interface ObjectBatch {
  /** The object is in the store, or on its way there. */
  has(hex: string, size: number): boolean
  /** Stores the bytes under their hex sha256. They are the caller's again when it resolves; the writing may go on. */
  put(hex: string, bytes: Uint8Array): Promise<void>
  writer(): ObjectWriter
  /** Durable when it resolves. */
  commit(): Promise<void>
  /** Waits until nothing is under way any more, whatever came of it. */
  settle(): Promise<void>
}

/** Bytes by their sha256. What it hands out is what its name says, or it throws a `SnapshotFault` with code `corrupt`. */
export interface Objects {
  begin(): ObjectBatch
  load(hex: string): Promise<Uint8Array | undefined>
  /** Streams a large object; false where there is none. What was passed on counts only if it does not throw. */
  pour(hex: string, into: (chunk: Uint8Array) => Promise<void>): Promise<boolean>
}

export function corrupt(hex: string, place: string, actual: string): SnapshotFault {
  return new SnapshotFault('corrupt', `object sha256:${hex} is corrupt: ${place} holds bytes with sha256 ${actual}; it is not used`)
}
