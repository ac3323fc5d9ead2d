import {
  type Dirent,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { Manifest } from '../../ports/snapshots.ts'
import { errnoOf } from './fault.ts'
import { sha256Of } from './folder/file.ts'

/** What the names of copies begin with. */
export const copyPrefix = 'copy-'
const packages = 'node_modules'
const manifestFile = '/package.json'
/** What tools write beside packages when they run; each copy begins with empty ones. */
const caches = new Set(['.cache', '.vite', '.vite-temp', '.vitest'])
/** Where tools note what they installed; who writes there could be loaded as a package by that name. */
const notes = new Set(['.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml', '.pnpm-workspace-state.json'])

export interface InstalledFor {
  /** Folder that packages are looked for in, and above. */
  folder: string
  /** Whether the copy is one of that very folder: its own packages, which are linked where others are installed, are then those of the copy. */
  itself: boolean
  /** Packages that are left out, by their path in that folder. */
  without?: readonly string[]
}

interface Linking {
  copy: string
  installed: InstalledFor
  /** Folders of the copy, by their path in it, that have the packages of the same folder of the original. */
  twins: Set<string>
  without: ReadonlySet<string>
}

/**
 * Gives a copy what is installed for the folder that it is a copy of, and which is in no snapshot: its own packages, or those of the nearest folder
 * above. Folders inside that have a package.json get their own. Every package is a link by itself: to where it is installed, or, where it is one of the
 * copied folder's own packages, to that place in the copy.
 */
export function linkPackages(copy: string, installed: InstalledFor, { files }: Manifest): void {
  const { folder } = installed
  const nearest = nearestWithPackages(folder)
  const inner = files
    .filter(({ path }) => path.endsWith(manifestFile))
    .map(({ path }) => path.slice(0, -manifestFile.length))
    .filter((path) => isFolder(join(folder, path, packages)))
  const twins = new Set([...(nearest === folder ? [''] : []), ...inner])
  const linking = { copy, installed, twins, without: new Set(installed.without?.map((path) => join(folder, path))) }
  if (nearest !== undefined) linkFolder(linking, join(nearest, packages), join(copy, packages))
  for (const path of inner) linkFolder(linking, join(folder, path, packages), join(copy, path, packages))
}

function linkFolder(linking: Linking, from: string, to: string): void {
  mkdirSync(to)
  for (const entry of entriesOf(from) ?? []) {
    const { name } = entry
    const [source, place] = [join(from, name), join(to, name)]
    if (linking.without.has(source) || notes.has(name) || (caches.has(name) && !entry.isDirectory())) continue
    if (caches.has(name)) mkdirSync(place)
    else if (entry.isDirectory() && (name.startsWith('@') || name === '.bin')) linkGroup(linking, source, place)
    else link(linking, targetOf(linking, entry, source), place)
  }
}

/**
 * Packages of one scope, or programs. For a copy of another folder they are linked together, unless one is left out; in a copy of the folder itself a
 * program that looks beside itself has to find the packages of the copy.
 */
function linkGroup(linking: Linking, from: string, to: string): void {
  const links = (entriesOf(from) ?? []).map((entry) => {
    const source = join(from, entry.name)
    return { name: entry.name, target: linking.without.has(source) ? undefined : targetOf(linking, entry, source) }
  })
  if (!linking.installed.itself && links.every(({ target }) => target !== undefined)) return link(linking, from, to)
  mkdirSync(to)
  for (const { name, target } of links) if (target !== undefined) link(linking, target, join(to, name))
}

/**
 * Another name for a link that leads there already is made in a fraction of the time that a new link takes on some file systems, and a link cannot be
 * changed, only replaced by name. The first names of links lie beside the copies, as a copy does, so that they are swept away when nobody adds to them.
 * Elsewhere than on Linux a name for a link may become one for what it leads to.
 */
function link({ copy, installed }: Linking, target: string, place: string): void {
  if (process.platform !== 'linux' || (installed.itself && target.startsWith(copy))) return symlinkSync(target, place)
  const first = join(dirname(copy), `${copyPrefix}links`, sha256Of(Buffer.from(target)))
  if (named(first, place)) {
    if (lstatSync(place).isSymbolicLink() && readlinkSync(place) === target) return
    rmSync(place)
  }
  symlinkSync(target, place)
  mkdirSync(dirname(first), { recursive: true, mode: 0o700 })
  named(place, first)
}

/** False where it cannot be: nothing there yet or no longer, too many names, another file system. */
function named(existing: string, name: string): boolean {
  try {
    linkSync(existing, name)
    return true
  } catch (error) {
    if (errnoOf(error) === undefined || errnoOf(error) === 'ENOSPC') throw error
    return false
  }
}

/** Undefined where they may not be read: whoever loads something from there is told so by the system. */
function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

function targetOf({ copy, installed, twins }: Linking, entry: Dirent, source: string): string {
  if (!installed.itself || !entry.isSymbolicLink()) return source
  const way = wayInside(installed.folder, source)
  if (way === undefined) return source
  const cut = way.split('/').indexOf(packages)
  return cut === -1 || twins.has(way.split('/').slice(0, cut).join('/')) ? join(copy, way) : source
}

/** Where in the folder a link leads, by its words: what lies there may be a link of a worker's. Undefined where it leads elsewhere. */
function wayInside(folder: string, link: string): string | undefined {
  const target = resolve(dirname(link), readlinkSync(link))
  return [folder, realOf(folder)]
    .map((root) => relative(root, target))
    .find((way) => way !== '' && way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return path
  }
}

function nearestWithPackages(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (isFolder(join(folder, packages))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
