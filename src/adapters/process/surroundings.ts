import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, resolve } from 'node:path'

/** Places that every program of a machine meets in: whoever may write or connect there reaches the person's other programs. */
const meetingPlaces = ['/tmp', '/run', '/var/run']

/** What is needed of them to resolve names, and to find programs where a system keeps them there. */
const neededThere = ['/run/systemd/resolve', '/run/resolvconf', '/run/nscd', '/run/current-system', '/etc/resolv.conf']

/** Sockets outside those places that are taken from the process, at most. */
const mostSockets = 1_000

/** Folders of which a sandboxed process gets an empty one of its own. The system's temporary folder is not one where somebody lives in it. */
export function privatePlaces(): string[] {
  const temporary = realOf(tmpdir())
  const livedIn = temporary === undefined || isWithin(temporary, realOf(homedir()) ?? resolve(homedir()))
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

/** How long a path that was found to lie in no private place is not looked up again: most are the same for every process. */
const settledMs = 1_000
const mostSettled = 1_000
const settled = { places: '', until: 0, paths: new Set<string>() }

/** Paths that need not be looked up. One that has come to lead into a private place meanwhile is not shown, which gives a process less and not more. */
function settledFor(places: readonly string[]): Set<string> {
  const key = places.join(':')
  if (settled.places !== key || performance.now() > settled.until || settled.paths.size > mostSettled) {
    settled.places = key
    settled.until = performance.now() + settledMs
    settled.paths.clear()
  }
  return settled.paths
}

/** What a process is started with, as far as it lies in a place that it would not see: named by its environment, its words or its folder. */
export function namedPaths(
  env: Readonly<Record<string, string>>,
  command: readonly string[],
  cwd: string,
  places: readonly string[],
): string[] {
  const values = Object.values(env).flatMap((value) => value.split(':'))
  const files = command.filter(isAbsolute).flatMap((word) => {
    const real = realOf(word)
    return real === undefined ? [] : [withNeighbours(word, places), withNeighbours(real, places)]
  })
  const elsewhere = settledFor(places)
  const named = new Set([...neededThere, cwd, ...values.filter(isAbsolute), ...files])
  return [...named].flatMap((path) => {
    const real = elsewhere.has(path) ? undefined : realOf(path)
    if (real === undefined) return []
    if (places.some((place) => real !== place && isWithin(place, real))) return [real]
    elsewhere.add(path)
    return []
  })
}

/** A program finds its parts beside itself, a package among the others; but nothing finds them in a place where everybody's files lie. */
function withNeighbours(file: string, places: readonly string[]): string {
  const packages = file.indexOf('/node_modules/')
  if (packages > 0) return file.slice(0, packages + '/node_modules'.length)
  const folder = dirname(file)
  return statSync(file).isFile() && !places.includes(folder) ? folder : file
}

/** Sockets of other programs that have a path: an editor, an agent for keys, a container engine. A read-only mount does not keep anybody from them. */
export function socketsOfOthers(): string[] {
  const lines = readFileSync('/proc/net/unix', 'latin1').split('\n')
  const paths = new Set(lines.flatMap((line) => / (\/.+)$/.exec(line)?.[1] ?? []))
  return [...paths].filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSocket()).slice(0, mostSockets)
}

/** Whether a path is the folder or lies in it; both absolute and without detours, as the system tells them. */
export function isWithin(folder: string, path: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}

/** Undefined where there is nothing, or nothing that may be looked at. Much of what is named is not there: looking first spares an error each. */
function realOf(path: string): string | undefined {
  try {
    return existsSync(path) ? realpathSync.native(path) : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}
