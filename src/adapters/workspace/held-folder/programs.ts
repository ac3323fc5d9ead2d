import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { buildEnv } from '../../process/environment.ts'
import { errnoOf } from '../fault.ts'
import type { Packages } from './record.ts'

/** Entries of one folder that are looked at; one with more is not looked through, and says so. */
const mostEntries = 20_000

/** Programs are noted beside packages, which are known by their relative paths: none of those begins like this. A folder of PATH ends in a slash. */
const mark = '//'

export const isProgram = (key: string): boolean => key.startsWith(mark)
export const programKey = (path: string): string => `${mark}${path}`
/** The folder of PATH that a program is noted for. */
export const folderKey = (key: string): string => key.slice(0, key.lastIndexOf('/') + 1)
const isFolder = (key: string): boolean => key.endsWith('/')
const shown = (key: string): string => key.slice(mark.length).replace(/\/$/, '') || '.'

interface PathFolder {
  /** As PATH names it. */
  folder: string
  /** The same from the root, links in the root as they are written: whoever works there cannot make it another. */
  place: string
}

const namedInPath = (): string[] => (buildEnv().PATH ?? '').split(':').filter(isAbsolute)

/** Folders in which programs are looked up by name and that lie in a folder, or would lie there; their way leads through what a worker may write. */
export function pathFoldersIn(root: string): PathFolder[] {
  return namedInPath().flatMap((folder) => {
    const place = placeIn(root, folder)
    return place === undefined ? [] : [{ folder, place }]
  })
}

function placeIn(root: string, folder: string): string | undefined {
  const steps = folder.split('/').filter((step) => step !== '')
  for (let count = 0; count <= steps.length; count += 1) {
    const real = realOf(`/${steps.slice(0, count).join('/')}`)
    if (real === undefined) return undefined
    if (isWithin(root, real)) return relative(root, join(real, ...steps.slice(count)))
  }
  return undefined
}

/** How programs stand that PATH finds in a folder. Nothing is read; the time of change cannot be set by who edits a file. */
export function lookAtPrograms(root: string): Packages {
  const found: Packages = {}
  for (const { folder, place } of pathFoldersIn(root)) {
    const { state, names } = list(folder)
    const key = programKey(place === '' ? '' : `${place}/`)
    found[key] = `${state} ${folder}`
    for (const name of names) {
      const stands = standingOf(root, `${folder}/${name}`)
      if (stands !== undefined) found[key + name] = stands
    }
  }
  return found
}

/**
 * The same for several folders, by paths from the first, with the times of folders on the way there: between two looks that are equal nobody took a program
 * away and put it back.
 */
export function programsStanding(first: string, roots: readonly string[]): Packages {
  const found = [...new Set([first, ...roots])].flatMap((root) =>
    Object.entries(lookClosely(root)).map(([key, stands]) => [relative(first, join(root, shown(key))) || '.', stands]),
  )
  return Object.fromEntries(found)
}

function lookClosely(root: string): Packages {
  const found = lookAtPrograms(root)
  for (const { place } of pathFoldersIn(root)) {
    const steps = place.split('/')
    const way = steps.map((_step, at) => lstatSync(join(root, ...steps.slice(0, at + 1)), { throwIfNoEntry: false }))
    found[programKey(place === '' ? '' : `${place}/`)] += ` ${way.map((stat) => (stat ? traits(stat) : 'absent')).join(' ')}`
  }
  return found
}

/** What a program is: its content where a worker may have written it, elsewhere which file it is. `read` reads files of the root. */
export async function programContent(
  root: string,
  key: string,
  read: (path: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (isFolder(key)) return ''
  const real = realOf(join(root, shown(key)))
  if (real === undefined || !isWithin(root, real)) return `leads to ${real}`
  const content = await read(relative(root, real))
  return content && `${relative(root, real)} ${content}`
}

interface Before {
  installed: Packages
  contents: Packages
  suspect: Packages
}

/**
 * Programs that are new, gone or others than they were, and folders of PATH of which nobody can tell. What is found in PATH no more because PATH is another
 * now is nobody's doing.
 */
export async function changedPrograms(
  { installed, contents, suspect }: Before,
  now: Packages,
  read: (key: string) => Promise<string | undefined>,
): Promise<string[]> {
  const keys = [...new Set([...Object.keys(installed), ...Object.keys(now)])].filter(isProgram).sort()
  const named = new Set(namedInPath())
  const changed: string[] = []
  for (const key of keys) {
    const [was, is] = [installed[key], now[key]]
    if (isFolder(key)) {
      if (isFolderChanged(was, is, named)) changed.push(shown(key))
    } else if (folderKey(key) in installed && folderKey(key) in now) {
      const isSame = was !== undefined && was === is && suspect[key] !== is
      if (!isSame && (was === undefined || is === undefined || (await read(key)) !== (contents[key] ?? ''))) changed.push(shown(key))
    }
  }
  return changed
}

/** One that was not in PATH when the task took the folder, or that cannot be looked through, may hold anything. */
function isFolderChanged(was: string | undefined, is: string | undefined, named: ReadonlySet<string>): boolean {
  if (was === undefined) return true
  if (is === undefined) return named.has(was.slice(was.indexOf(' ') + 1))
  const [before, after] = [was, is].map((stands) => stands.slice(0, stands.indexOf(' ')))
  return after !== 'absent' && (before !== 'there' || after !== 'there')
}

/** A folder that may be entered but not listed hides what is run from it. */
function list(folder: string): { state: string; names: string[] } {
  try {
    const names = readdirSync(folder)
    return names.length > mostEntries ? { state: 'large', names: [] } : { state: 'there', names }
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === undefined) throw error
    return { state: errno === 'ENOENT' || errno === 'ENOTDIR' ? 'absent' : errno, names: [] }
  }
}

/** Undefined for what is no program: a folder, a file that nobody may run, a link that leads nowhere. */
function standingOf(root: string, file: string): string | undefined {
  const real = realOf(file)
  const stat = real === undefined ? undefined : statSync(real, { throwIfNoEntry: false })
  const itself = lstatSync(file, { throwIfNoEntry: false })
  if (real === undefined || !itself || !stat?.isFile() || (stat.mode & 0o111) === 0) return undefined
  // What lies elsewhere is the system's or the owner's to update.
  const parts = isWithin(root, real) ? [traits(itself), real, traits(stat)] : [traits(itself), real]
  return createHash('sha256').update(parts.join('\0')).digest('hex')
}

function traits({ ino, mode, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${mode} ${size} ${mtimeMs} ${ctimeMs}`
}

/** Undefined where there is nothing, or nothing that may be looked at. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

function isWithin(folder: string, path: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}
