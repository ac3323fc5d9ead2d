import { closeSync, constants, existsSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { excerpt } from '../../../../contract/source/shown.ts'

/** Why something is not done, for the model's eyes. */
export interface Refusal {
  why: string
}

/**
 * A folder that is held open: what lies in it is addressed through it, so that nothing can be put in its place on the way. Folders are opened on the spot:
 * each step is over sooner than the pool of threads would begin with it.
 */
export interface OpenFolder {
  /** Address of an entry, for calls that do not follow a link in its last part. */
  at(name: string): string
  enter(name: string, make?: boolean): OpenFolder | Refusal
  close(): void
}

/** The workspace as tools may see it. */
export interface Grounds {
  workspace: string
  /** Absolute files and folders that are not there for a worker, and files that it may not change. */
  hidden: readonly string[]
  readOnly: readonly string[]
}

const longestPath = 4_096
/** Elsewhere an entry is addressed by its path: then no link is followed, but a folder could be exchanged in between. */
const byDescriptor = existsSync('/proc/self/fd')
const asFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** The steps of a path below the workspace; a path that leads out of it is refused, however it is written. */
export function stepsOf(path: string): string[] | Refusal {
  if (path.includes('\0') || path.length > longestPath) return { why: 'The path is too long or has a NUL.' }
  const steps = path.split('/').filter((step) => step !== '' && step !== '.')
  if (path.startsWith('/') || steps.includes('..'))
    return { why: `${excerpt(path)} leads out of the workspace: write paths relative to it, without \`..\`.` }
  return steps
}

/** Opens a folder below the workspace, step by step, through no link. With `make`, folders that are missing are made. */
export function openFolder({ workspace }: Pick<Grounds, 'workspace'>, steps: readonly string[], make = false): OpenFolder | Refusal {
  const root = realpathSync.native(workspace)
  let folder: OpenFolder = held(openSync(root, asFolder), root)
  for (const step of steps) {
    const next = folder.enter(step, make)
    folder.close()
    if ('why' in next) return next
    folder = next
  }
  return folder
}

function held(fd: number, place: string): OpenFolder {
  const at = (name: string) => join(byDescriptor ? `/proc/self/fd/${fd}` : place, name)
  return {
    at,
    enter: (name, make = false) => {
      try {
        if (make) makeFolder(at(name))
        return held(openSync(at(name), asFolder), join(place, name))
      } catch (error) {
        return { why: `${excerpt(name)}: ${reason(error)}.` }
      }
    },
    close: () => closeSync(fd),
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Why the system refused, in words. Anything but a refusal of the system is a bug. */
export function reason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  const words: Record<string, string> = {
    ENOENT: 'there is no such file or folder',
    ENOTDIR: 'it is no folder, or a symbolic link',
    ELOOP: 'it is a symbolic link, which is not followed',
    EISDIR: 'it is a folder',
    EACCES: 'it may not be touched',
    ENOSPC: 'the disk is full',
  }
  return words[code] ?? `the system says ${code}`
}

/** Whether a place is kept from the worker. What lies around the workspace does not count: no path leads there. */
export function isKept(grounds: Grounds, steps: readonly string[], kept: readonly string[]): boolean {
  const root = realpathSync.native(grounds.workspace)
  const wanted = join(root, ...steps)
  return kept.map(realPlace).some((path) => isBelow(root, path) && (path === wanted || isBelow(path, wanted)))
}

/** Where a path leads; one that leads nowhere, or cannot be followed, stands for itself. */
function realPlace(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return path
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith('../')
}
