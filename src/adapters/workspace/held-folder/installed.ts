import { createHash, type Hash } from 'node:crypto'
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errnoOf } from '../fault.ts'
import { lookAtPrograms } from './programs.ts'
import type { Packages } from './record.ts'

/** Entries that are looked at; a folder with more is not looked through, and says so. */
const mostEntries = 300_000
/** How long the look may hold up everybody else. */
const sliceMs = 5

const packagesFolder = 'node_modules'
/** Where no packages are looked for. */
const passedBy = new Set(['.git', '.assay'])
/** Folders of what tools write beside packages when they run; every copy for a check begins with empty ones. */
const caches = new Set(['.cache', '.vite', '.vite-temp', '.vitest'])
/** Files in which tools note what they installed; no copy has them. */
const notes = new Set(['.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml', '.pnpm-workspace-state.json'])
/** Folders of which every entry is looked at by itself. */
const collections = new Set(['.bin', '.pnpm'])

/** Named in place of packages where there are too many files to look at. */
export const tooMany = `${packagesFolder} (more than ${mostEntries} files)`

interface Look {
  root: string
  /** Whether folders count with their times, too. */
  closely: boolean
  packages: Packages
  left: number
  since: number
}

/**
 * How installed packages stand, which are in no snapshot: for each package a digest of its files' paths, sizes, times and places on the disk.
 * Nothing is read, so that it is cheap; the time of change cannot be set by who edits a file. Programs that PATH finds there are noted with them.
 */
export async function lookAtInstalled(root: string): Promise<Packages> {
  return { ...(await lookAt(root, false)), ...lookAtPrograms(root) }
}

/**
 * Packages with the times of folders: a package that was swapped for another and put back has its old files, but not its old folder's time of change.
 * For two looks that are not far apart, because tools that write beside packages change these times as well.
 */
export function lookClosely(root: string): Promise<Packages> {
  return lookAt(root, true)
}

async function lookAt(root: string, closely: boolean): Promise<Packages> {
  const look: Look = { root, closely, packages: {}, left: mostEntries, since: performance.now() }
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(look, folder)) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.name === packagesFolder) await lookAtPackages(look, path)
      else if (entry.isDirectory() && !passedBy.has(entry.name)) folders.push(path)
    }
  }
  return look.left < 0 ? { [tooMany]: '' } : look.packages
}

async function lookAtPackages(look: Look, folder: string): Promise<void> {
  if (look.closely) look.packages[folder] = standingOf(look, folder)
  for (const entry of await entriesOf(look, folder)) {
    const { name } = entry
    // Of another kind than a tool makes it, it is a package like any other.
    if ((caches.has(name) && entry.isDirectory()) || (notes.has(name) && entry.isFile())) continue
    const path = `${folder}/${name}`
    if (name.startsWith('@') || collections.has(name)) {
      if (look.closely) look.packages[path] = standingOf(look, path)
      // pnpm links there what packages find that do not declare it: each is a package by itself.
      for (const inner of await entriesOf(look, path))
        if (inner.name === packagesFolder) await lookAtPackages(look, `${path}/${inner.name}`)
        else await lookAtPackage(look, `${path}/${inner.name}`)
    } else await lookAtPackage(look, path)
  }
}

async function lookAtPackage(look: Look, path: string): Promise<void> {
  const digest = createHash('sha256')
  // A link is part of what is installed, what it leads to is not: packages of one repository are linked to their sources, which are the work.
  const folders = note(look, digest, path)?.isDirectory() ? [path] : []
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(look, folder)) {
      const inner = `${folder}/${entry.name}`
      note(look, digest, inner)
      if (entry.isDirectory()) folders.push(inner)
    }
  }
  look.packages[path] = digest.digest('hex')
}

function note(look: Look, digest: Hash, path: string): Stats | undefined {
  const stat = lstatSync(join(look.root, path), { throwIfNoEntry: false })
  if (stat) digest.update(`${path}\0${traits(stat, look.closely)}\0`)
  return stat
}

/** How a folder that has packages in it stands by itself. */
function standingOf(look: Look, folder: string): string {
  const stat = lstatSync(join(look.root, folder), { throwIfNoEntry: false })
  return stat ? traits(stat, true) : ''
}

/** A folder's own times change whenever a tool writes beside its packages; its entries are listed anyway. */
function traits(stat: Stats, closely: boolean): string {
  const { ino, mode, size, mtimeMs, ctimeMs } = stat
  return stat.isDirectory() && !closely ? `${ino} ${mode}` : `${ino} ${mode} ${size} ${mtimeMs} ${ctimeMs}`
}

/** Entries in the order of their names; none where there is no folder, or none that may be read. Links are not followed. */
async function entriesOf(look: Look, folder: string) {
  if (performance.now() - look.since > sliceMs) {
    await nextTurn()
    look.since = performance.now()
  }
  if (look.left < 0) return []
  try {
    const entries = readdirSync(join(look.root, folder), { withFileTypes: true })
    look.left -= entries.length
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EACCES' || errno === 'ELOOP') return []
    throw error
  }
}
