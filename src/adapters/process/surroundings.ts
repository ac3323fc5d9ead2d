import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, relative } from 'node:path'

/** Places that every program of a machine meets in: whoever may write or connect there reaches the person's other programs. */
const meetingPlaces = ['/tmp', '/run', '/var/run']

/** What is needed of them to resolve names, and to find programs where a system keeps them there. */
const neededThere = ['/run/systemd/resolve', '/run/resolvconf', '/run/nscd', '/run/current-system', '/etc/resolv.conf']

/** Sockets outside those places that are taken from the process, at most. */
const mostSockets = 1_000

/** Folders of which a sandboxed process gets an empty one of its own. The system's temporary folder is not one where somebody lives in it. */
export function privatePlaces(): string[] {
  const temporary = realOf(tmpdir())
  const livedIn = temporary === undefined || isWithin(temporary, realOf(homedir()) ?? homedir())
  const places = [...meetingPlaces.map(realOf), livedIn ? undefined : temporary]
  return [...new Set(places.filter((place) => place !== undefined && place !== '/'))] as string[]
}

/**
 * Folders that whoever runs Assay shares with every sandboxed process, such as a package manager's cache: named in a variable that no worker gets,
 * because what one run leaves there another one finds.
 */
export function ownersFolders(): string[] {
  return (process.env.ASSAY_SANDBOX_WRITABLE ?? '').split(':').filter(isAbsolute)
}

/** What a process is started with, as far as it lies in a place that it would not see: named by its environment, its words or its folder. */
export function namedPaths(env: Readonly<Record<string, string>>, command: readonly string[], cwd: string): string[] {
  const values = Object.values(env).flatMap((value) => value.split(':'))
  const files = command.filter(isAbsolute).flatMap((word) => {
    const real = realOf(word)
    return real === undefined ? [] : [withNeighbours(word), withNeighbours(real)]
  })
  return [...neededThere, cwd, ...values.filter(isAbsolute), ...files].flatMap((path) => realOf(path) ?? [])
}

/** A program finds its parts beside itself, a package among the others; but nothing finds them in a place where everybody's files lie. */
function withNeighbours(file: string): string {
  const packages = file.indexOf('/node_modules/')
  if (packages > 0) return file.slice(0, packages + '/node_modules'.length)
  const folder = dirname(file)
  return statSync(file).isFile() && !privatePlaces().includes(folder) ? folder : file
}

/** Sockets of other programs that have a path: an editor, an agent for keys, a container engine. A read-only mount does not keep anybody from them. */
export function socketsOfOthers(): string[] {
  const lines = readFileSync('/proc/net/unix', 'latin1').split('\n')
  const paths = new Set(lines.flatMap((line) => / (\/.+)$/.exec(line)?.[1] ?? []))
  return [...paths].filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSocket()).slice(0, mostSockets)
}

/** Whether a path is the folder or lies in it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith('../')
}

/** Undefined where there is nothing, or nothing that may be looked at. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}
