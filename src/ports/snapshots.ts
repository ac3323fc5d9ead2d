import type { Digest } from '../contract/canonical.ts'

/** One file of a snapshot. */
export interface SnapshotFile {
  /** Relative, `/`-separated, normalised. */
  path: string
  size: number
  digest: Digest
  executable: boolean
}

/** What a snapshot consists of; its digest is the digest of this list. Sorted by path. */
export interface Manifest {
  digest: Digest
  files: SnapshotFile[]
  /** What was there but is no plain file (symlink, FIFO, device, hard link, unreadable): named, never followed. */
  refused: { path: string; why: string }[]
}

export type SnapshotProblem = { code: 'too_large' | 'changed_while_reading' | 'io' | 'disk_full' | 'not_found'; message: string }

export interface RestoreOptions {
  /** Paths that stay as they are because they are not the work (`.git`, `node_modules`). */
  keep?: (path: string) => boolean
  /** Files are made without write permission. */
  readOnly?: boolean
}

/** Content-addressed store of the work under review. What was reviewed is what is released: nobody reads the workspace again. */
export interface SnapshotStore {
  /** Reads the folder safely and stores every file; durable when it resolves. Paths for which `ignore` is true are left out. */
  take(
    root: string,
    ignore?: (path: string) => boolean,
  ): Promise<{ ok: true; manifest: Manifest } | { ok: false; problem: SnapshotProblem }>
  manifest(digest: Digest): Promise<Manifest | undefined>
  /** Bytes of one file of a snapshot; undefined where there is none. Verified against its digest. */
  read(digest: Digest, path: string): Promise<Uint8Array | undefined>
  /**
   * Streams one file of a snapshot, whatever its size; false where there is none. A piece is the callee's until it resolves. What was passed on counts only
   * if it does not throw.
   */
  pour(digest: Digest, path: string, into: (piece: Uint8Array) => Promise<void>): Promise<boolean>
  /** Makes `folder` hold exactly the snapshot; what was there is replaced, unless it is to be kept. */
  restore(digest: Digest, folder: string, options?: RestoreOptions): Promise<{ ok: true } | { ok: false; problem: SnapshotProblem }>
  /** Any text kept by its digest: raw replies, outputs. */
  putText(text: string): Promise<Digest>
  /** Any bytes kept by their digest: screenshots, bodies. */
  putBytes(bytes: Uint8Array): Promise<Digest>
  getBytes(digest: Digest): Promise<Uint8Array | undefined>
  /** One plain file, read safely and streamed, whatever its size up to the limit; durable when it resolves. Its path in a snapshot is its name. */
  putFile(path: string, maxBytes: number): Promise<{ ok: true; file: SnapshotFile } | { ok: false; problem: SnapshotProblem }>
  /** A snapshot made of files that are stored already, such as another one with some of its files replaced. */
  compose(files: readonly SnapshotFile[], refused?: Manifest['refused']): Promise<Digest>
  getText(digest: Digest): Promise<string | undefined>
}
