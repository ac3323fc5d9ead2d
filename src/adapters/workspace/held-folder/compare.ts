import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PackageChanges } from '../../../ports/workspace.ts'
import { tooMany } from './installed.ts'
import { packageReader } from './package-content.ts'
import { changedPrograms, isProgram } from './programs.ts'
import type { Packages } from './record.ts'

const packagesFolder = 'node_modules'
/** A file of this name beside packages is found before the package of the same name without it. */
const loadedFirst = /\.(js|json|node)$/
/** Programs of the system that a script would no longer find. */
const everywhere = new Set(['node', 'npm', 'npx', 'sh', 'bash', 'env'])

/** How packages stood when a task took the folder. */
export interface Before {
  installed: Packages
  /** What they contained; of those that are suspect, what they contained before the work that was not accepted. Empty for those that were not there. */
  contents: Packages
  /** Packages that work which was not accepted has left as they stand here. */
  suspect: Packages
}

export async function comparePackages(root: string, before: Before, now: Packages): Promise<PackageChanges> {
  const { installed, contents, suspect } = before
  const changes: PackageChanges = { changed: [], replaced: [], added: [], removed: [] }
  const read = packageReader(root)
  const programs = await changedPrograms(before, now, read)
  const more = programs.length > 0 ? { programs } : {}
  if (tooMany in now && !(tooMany in installed)) return { ...changes, changed: [tooMany], ...more }
  for (const path of [...new Set([...Object.keys(installed), ...Object.keys(now)])].sort()) {
    if (isProgram(path)) continue
    const [was, is] = [installed[path], now[path]]
    if (is === undefined) changes.removed.push(path)
    else if (was === undefined) changes.added.push(path)
    else if ((was !== is || suspect[path] === is) && !((await read(path)) === (contents[path] ?? ''))) changes.changed.push(path)
  }
  const isReplacing = replacing(root, installed, changes.removed)
  return {
    ...changes,
    replaced: changes.added.filter(isReplacing),
    added: changes.added.filter((path) => !isReplacing(path)),
    ...more,
  }
}

/** Whether a new package is found where another of its name was found before: further up, above the folder, or in a place that is gone. */
function replacing(root: string, installed: Packages, removed: readonly string[]): (path: string) => boolean {
  const gone = new Set(removed.map((path) => placeOf(path).name))
  return (path) => {
    const { folder, name } = placeOf(path)
    if (gone.has(name) || (name.startsWith('.bin/') && everywhere.has(name.slice('.bin/'.length)))) return true
    const further = foldersAbove(folder)
    if (further.some((one) => inFolder(one, name) in installed) || isAbove(root, name)) return true
    const short = name.replace(loadedFirst, '')
    if (short === name || statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()) return false
    return [folder, ...further].some((one) => inFolder(one, short) in installed) || isAbove(root, short)
  }
}

function placeOf(path: string): { folder: string; name: string } {
  const cut = path.lastIndexOf(`${packagesFolder}/`)
  return { folder: path.slice(0, Math.max(0, cut - 1)), name: path.slice(cut + packagesFolder.length + 1) }
}

const inFolder = (folder: string, name: string): string => `${folder === '' ? '' : `${folder}/`}${packagesFolder}/${name}`

/** The folders around one, the innermost first, up to the root of the work. */
function foldersAbove(folder: string): string[] {
  const above: string[] = []
  for (let at = folder; at !== ''; ) {
    at = at.includes('/') ? at.slice(0, at.lastIndexOf('/')) : ''
    above.push(at)
  }
  return above
}

function isAbove(root: string, name: string): boolean {
  for (let folder = root; folder !== dirname(folder); ) {
    folder = dirname(folder)
    if (existsSync(join(folder, packagesFolder, name))) return true
  }
  return false
}
