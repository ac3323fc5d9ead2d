import { statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Manifest } from '../../ports/snapshots.ts'

const packages = 'node_modules'
const manifestFile = '/package.json'

/**
 * Gives a copy what is installed for the folder that it is a copy of, and which is in no snapshot: its own packages, or those of the nearest folder
 * above, as links. Folders inside that have a package.json get their own.
 */
export function linkPackages(copy: string, original: string, { files }: Manifest): void {
  const nearest = nearestWithPackages(original)
  if (nearest !== undefined) symlinkSync(join(nearest, packages), join(copy, packages))
  for (const { path } of files) {
    if (!path.endsWith(manifestFile)) continue
    const folder = path.slice(0, -manifestFile.length)
    if (isFolder(join(original, folder, packages))) symlinkSync(join(original, folder, packages), join(copy, folder, packages))
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
