import { createHash } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Entries of one folder that are looked at. */
const mostEntries = 300_000

/** What tools write beside packages; no copy for a check has any of it. */
const besidePackages = new Set([
  ...['.cache', '.vite', '.vite-temp', '.vitest', '.package-lock.json'],
  ...['.modules.yaml', '.yarn-integrity', '.yarn-state.yml', '.pnpm-workspace-state.json'],
])

const isPassing = (folder: string, name: string): boolean =>
  name === '__pycache__' || (basename(folder) === 'node_modules' && besidePackages.has(name))

/**
 * How a file or folder stands: kind, size, place and times of everything in it but for what programs write when
 * they run. The time of change cannot be set by who edits a file.
 */
export function standing(root: string): string {
  const hash = createHash('sha256')
  const open = [root]
  let left = mostEntries
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const stat = lstatSync(at, { throwIfNoEntry: false })
    left -= 1
    // What is not looked through to its end is never the same.
    if (left < 0) return `more than ${mostEntries} files at ${process.hrtime.bigint()}`
    if (!stat) hash.update(`${at}\0gone\0`)
    else if (!stat.isDirectory()) hash.update(`${at}\0${stat.ino} ${stat.mode} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}\0`)
    else for (const name of readdirSync(at).sort()) if (!isPassing(at, name)) open.push(join(at, name))
  }
  return hash.digest('hex')
}
