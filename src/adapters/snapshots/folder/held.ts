import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FolderChanged, isGone } from '../fault.ts'

// Absent on Windows, where the path is compared instead.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
/** Linux only; Node does not name it. Opens an entry to look at, without needing the right to read it. */
const O_PATH = 0x200000

/**
 * How a folder is kept from being swapped for a link between a check and its use.
 * `descriptor`: entries are addressed through the open folder (`/proc/self/fd/N/name`), so no swap can redirect them.
 * `path`: entries are addressed by path and compared afterwards with what was opened.
 */
export type Holding = 'descriptor' | 'path'
export const defaultHolding: Holding = existsSync('/proc/self/fd') ? 'descriptor' : 'path'

/** A folder opened without following a link. */
export interface HeldFolder {
  /** Address of an entry, for system calls that do not follow a link in its last part. */
  at(name: string | Buffer): string | Buffer
  stat(): BigIntStats
  /** The open file is this folder's entry and not something a swapped parent led to. */
  owns(fd: number, name: string): boolean
  /** The folder is still where it was opened. */
  inPlace(): boolean
  /** Gives the owner all rights on a folder inside, without following a link. */
  unlock(name: string | Buffer): void
  release(): void
}

export interface HeldRoot {
  /** Opens a folder by its path below the root. Throws `FolderChanged` where the path leads elsewhere. */
  hold(path: string): HeldFolder
  /** The root is still what `folder` names, and no link leads there. */
  isAt(folder: string): boolean
  release(): void
}

/** Opens `folder` itself; a link in its place is refused (`ELOOP` or `ENOTDIR`). */
export function holdRoot(folder: string, holding: Holding): HeldRoot {
  return holding === 'descriptor' ? rootByDescriptor(folder) : rootByPath(folder)
}

/** Whether the owner lacks a right on a folder. */
export function isLocked({ mode }: { mode: number }): boolean {
  return (mode & 0o700) !== 0o700
}

/** Gives the owner all rights on `folder` itself, where a link in its place is refused. */
export function unlockFolder(folder: string, holding: Holding): void {
  const root = holdRoot(dirname(folder), holding)
  try {
    const parent = root.hold('')
    parent.unlock(basename(folder))
    parent.release()
  } finally {
    root.release()
  }
}

/** Where an open descriptor really is, byte for byte. */
function placeOf(fd: number): string {
  return readlinkSync(`/proc/self/fd/${fd}`, { encoding: 'latin1' })
}

function below(root: string, path: string): string {
  if (path === '') return root
  const tail = Buffer.from(path).toString('latin1')
  return root === '/' ? `/${tail}` : `${root}/${tail}`
}

/** What `look` finds at the path of a folder that may be swapped meanwhile. */
function unlessGone<T>(path: string, look: () => T): T {
  try {
    return look()
  } catch (error) {
    throw isGone(error) ? new FolderChanged(path) : error
  }
}

function isSame(opened: BigIntStats, place: string): boolean {
  const now = lstatSync(place, { bigint: true, throwIfNoEntry: false })
  return now?.isDirectory() === true && now.dev === opened.dev && now.ino === opened.ino
}

function rootByDescriptor(folder: string): HeldRoot {
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK
  const rootFd = openSync(folder, flags)
  return {
    hold(path) {
      const fd = openSync(`/proc/self/fd/${rootFd}/${path === '' ? '.' : path}`, flags)
      // The root opened through itself is the root; a path below it may have led elsewhere.
      const inPlace = () => path === '' || placeOf(fd) === below(placeOf(rootFd), path)
      if (!inPlace()) {
        closeSync(fd)
        throw new FolderChanged(path)
      }
      const base = `/proc/self/fd/${fd}/`
      return {
        at: (name) => (typeof name === 'string' ? base + name : Buffer.concat([Buffer.from(base), name])),
        stat: () => fstatSync(fd, { bigint: true }),
        owns: () => true,
        inPlace,
        unlock(name) {
          const inner = openSync(this.at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW)
          try {
            if (isLocked(fstatSync(inner))) chmodSync(`/proc/self/fd/${inner}`, 0o700)
          } finally {
            closeSync(inner)
          }
        },
        release: () => closeSync(fd),
      }
    },
    isAt: (place) => isSame(fstatSync(rootFd, { bigint: true }), place),
    release: () => closeSync(rootFd),
  }
}

function rootByPath(folder: string): HeldRoot {
  if (!lstatSync(folder).isDirectory()) throw Object.assign(new Error(`ENOTDIR: ${folder}`), { code: 'ENOTDIR', syscall: 'open' })
  const root = realpathSync.native(folder)
  const rootStat = lstatSync(root, { bigint: true })
  return {
    hold(path) {
      const place = path === '' ? root : join(root, path)
      const opened = lstatSync(place, { bigint: true })
      const inPlace = () => unlessGone(path, () => isSame(opened, place) && realpathSync.native(place) === place)
      if (!inPlace()) throw new FolderChanged(path)
      const at = (name: string | Buffer) => (typeof name === 'string' ? join(place, name) : Buffer.concat([Buffer.from(`${place}/`), name]))
      return {
        at,
        stat: () => unlessGone(path, () => lstatSync(place, { bigint: true })),
        owns(fd, name) {
          const open = fstatSync(fd, { bigint: true })
          const entry = unlessGone(path, () => lstatSync(at(name), { bigint: true, throwIfNoEntry: false }))
          return entry?.isFile() === true && entry.dev === open.dev && entry.ino === open.ino && inPlace()
        },
        inPlace,
        unlock(name) {
          const entry = lstatSync(at(name))
          if (entry.isDirectory() && isLocked(entry)) chmodSync(at(name), 0o700)
        },
        release: () => undefined,
      }
    },
    isAt: (place) => isSame(rootStat, place),
    release: () => undefined,
  }
}
