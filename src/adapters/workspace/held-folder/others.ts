import { readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { TaskSpec } from '../../../contract/task.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import type { PackageChanges } from '../../../ports/workspace.ts'
import { errnoOf } from '../fault.ts'
import type { SharedFolders } from './held-folder.ts'
import { InstalledPackages } from './packages.ts'
import { pathFoldersIn } from './programs.ts'
import { suspectFolder, suspectsEnding } from './record.ts'

export interface Asking {
  task: TaskSpec
  /** Where its packages are looked for, and above. */
  origin: string
  /** Tasks that have a shared folder now. */
  others: readonly TaskSpec[]
  /** Files that are run where they lie. */
  places: readonly string[]
}

/**
 * What others have made of packages that programs run for a task may load, and of programs that PATH finds: tasks that have a folder now, and work that
 * was not accepted and left some behind. The task's own folder is not looked at: what became of it is noted when the task takes it.
 */
export async function changesByOthers(
  options: { folder: string; snapshots: SnapshotStore },
  { task, origin, others, places }: Asking,
  shared: SharedFolders,
): Promise<PackageChanges> {
  const all: PackageChanges = { changed: [], replaced: [], added: [], removed: [] }
  const mayLoad = reach(task, origin, places)
  const programs: string[] = []
  const take = (root: string, changes: PackageChanges) => {
    for (const kind of ['changed', 'replaced', 'added', 'removed'] as const)
      for (const path of changes[kind]) if (mayLoad(root, path)) all[kind].push(relative(origin, join(root, path)))
    for (const path of changes.programs ?? []) programs.push(relative(origin, join(root, path)))
  }
  const seen = new Set(task.workspace.kind === 'folder' ? [origin] : [])
  for (const other of others) {
    const root = shared.pathOf(other)
    if (!seen.has(root) && (mayLoad(root, '') || pathFoldersIn(root).length > 0)) take(root, await shared.meddled(other))
    seen.add(root)
  }
  for (const root of suspectFolders(options.folder)) if (!seen.has(root)) take(root, await new InstalledPackages(options, root).changes({}))
  return programs.length > 0 ? { ...all, programs } : all
}

/** Folders in which work that was not accepted has left packages. */
function suspectFolders(records: string): string[] {
  return namesIn(records)
    .filter((name) => name.endsWith(suspectsEnding))
    .flatMap((name) => suspectFolder(join(records, name)) ?? [])
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    return []
  }
}

/** Programs find packages in the folders around themselves; those of a copy of the whole folder also in the folders inside of it. */
function reach(task: TaskSpec, origin: string, places: readonly string[]): (root: string, path: string) => boolean {
  const from = [origin, ...places.map((place) => dirname(place))]
  return (root, path) => {
    const steps = path.split('/')
    const owner = join(root, ...steps.slice(0, Math.max(0, steps.indexOf('node_modules'))))
    return from.some((place) => isWithin(owner, place)) || (task.workspace.kind !== 'scratch' && isWithin(origin, owner))
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith('../')
}
