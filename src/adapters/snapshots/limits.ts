/** What one snapshot may hold. Past a limit the take fails and its problem names the limit. */
export interface SnapshotLimits {
  /** Size of one file. */
  maxFileBytes: number
  /** Size of all files together. */
  maxTotalBytes: number
  /** Entries: files, folders and what is refused. */
  maxFiles: number
}

export const snapshotDefaults: SnapshotLimits = {
  maxFileBytes: 512 * 1024 * 1024,
  maxTotalBytes: 2 * 1024 * 1024 * 1024,
  maxFiles: 100_000,
}

/** Bytes of a relative path. Below the kernel's 4,096 with room for the folder that a snapshot is restored to. */
export const maxPathBytes = 3000

/** Files up to this size are read in one piece; larger ones stream through a buffer of `chunkBytes`. */
export const smallBytes = 256 * 1024
export const chunkBytes = 1024 * 1024

/** Large files read at once. */
export const readLanes = 4
/** New objects on their way to the disk at once. */
export const writeLanes = 16

/** How often a file, and a whole folder, is read again when it changed meanwhile. */
export const maxReadTries = 4
