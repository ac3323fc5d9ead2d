import { isAbsolute, relative } from 'node:path'
import type { Digest } from '../../../contract/canonical.ts'
import type { EventData } from '../../../contract/events/manifest.ts'
import { visible } from '../../../contract/source/shown.ts'
import type { TaskSpec } from '../../../contract/task.ts'
import type { PackageChanges } from '../../../ports/workspace.ts'
import { foldersStream } from '../../streams.ts'
import type { FolderRow } from '../../views/folders.ts'
import type { Bench } from '../bench.ts'
import { copyForJudge } from '../judging/copies.ts'

/** Another task that has a folder now from which programs run for this one load. */
export interface Neighbour {
  spec: TaskSpec
  folder: string
  /** The folder before its work; undefined where that has not begun. */
  found: Digest | undefined
}

/** What programs may load or run that is not the work, and who else could write there, at one moment. */
export interface Surroundings {
  neighbours: readonly Neighbour[]
  /** What others have made of installed packages, and of programs in PATH. */
  packages: PackageChanges
  /** Says what has been touched since by somebody who may write there; nothing where all is as it was. */
  moved(): Promise<string[]>
}

export const noSurroundings: Surroundings = {
  neighbours: [],
  packages: { changed: [], replaced: [], added: [], removed: [] },
  moved: () => Promise.resolve([]),
}

/** `places` are files that are run where they lie. Packages of the task's own shared folder are watched as well. */
export async function lookAround(bench: Bench, spec: TaskSpec, places: readonly string[]): Promise<Surroundings> {
  const { journal, workspaces } = bench.parts
  const takings = await journal.head(foldersStream)
  // Where nobody ever had a shared folder, nobody has left anything in one.
  const holders = takings === 0 ? [] : await holdersBeside(bench, spec)
  const concerns = reach(bench, spec, places)
  const neighbours = holders.filter(({ folder }) => concerns(folder))
  const others = neighbours.map((one) => one.spec)
  const programs = await watchPrograms(bench, spec, holders)
  const packages = takings === 0 ? noSurroundings.packages : await workspaces.meddledByOthers(spec, specsOf(holders), places)
  const watched = [spec, ...others]
  const standing = await Promise.all(watched.map((one) => workspaces.standing(one)))
  const moved = async () => {
    const began = await begunSince(bench, spec, { takings, neighbours, places })
    const touched = await Promise.all(watched.map(async (one, at) => differing(standing[at] ?? {}, await workspaces.standing(one))))
    return [
      ...began.map((task) => `${visible(task)} began to work in the folder that it is run from`),
      ...touched.flat().map((path) => `${visible(path)} was touched`),
      ...(await programs.moved()),
    ]
  }
  return { neighbours, packages, moved }
}

/** The same as far as programs go that PATH finds where workers may write: they are run for whoever runs anything by its name. */
export async function lookAtPath(bench: Bench, spec: TaskSpec): Promise<Surroundings> {
  const { workspaces } = bench.parts
  const holders = await holdersBeside(bench, spec)
  const { some, moved } = await watchPrograms(bench, spec, holders)
  if (!some) return noSurroundings
  const { programs = [] } = await workspaces.meddledByOthers(spec, specsOf(holders), [])
  return { neighbours: [], packages: { ...noSurroundings.packages, programs }, moved }
}

interface WatchedPrograms {
  /** Whether any folder of PATH lies where workers may write. */
  some: boolean
  moved(): Promise<string[]>
}

async function watchPrograms({ parts }: Bench, spec: TaskSpec, holders: readonly Neighbour[]): Promise<WatchedPrograms> {
  const look = () => parts.workspaces.programs([spec, ...specsOf(holders)])
  const before = await look()
  return {
    some: Object.keys(before).length > 0,
    moved: async () => differing(before, await look()).map((path) => `${visible(path)}, which is in PATH, was touched`),
  }
}

const specsOf = (holders: readonly Neighbour[]): TaskSpec[] => holders.map(({ spec }) => spec)

/** Tasks that began to work in a folder from which something was loaded as it lay there; what was run from a copy, or is not there, is out of their reach. */
async function begunSince(
  bench: Bench,
  spec: TaskSpec,
  { takings, neighbours, places }: { takings: number; neighbours: readonly Neighbour[]; places: readonly string[] },
): Promise<string[]> {
  const { journal, workspaces } = bench.parts
  const concerns = reach(bench, spec, places)
  const copied = new Set(neighbours.filter(({ found }) => found !== undefined).map(({ folder }) => folder))
  const taken = (await journal.readStream(foldersStream, takings)).map(({ data }) => data as EventData<'folder.taken'>)
  const early = neighbours
    .filter((one) => workspaces.found(one.spec) !== undefined)
    .map((one) => ({ folder: one.folder, task: one.spec.id }))
  const begun = new Set<string>()
  for (const { folder, task } of [...taken, ...early]) {
    if (task === spec.id || copied.has(folder) || !concerns(folder)) continue
    const { state } = await bench.tasks.load(task)
    const runs = places.some((place) => isWithin(folder, place))
    if (runs || (state && Object.keys(await workspaces.standing(state.spec)).length > 0)) begun.add(task)
  }
  return [...begun]
}

/** Other tasks that have a shared folder now. */
async function holdersBeside({ parts, tasks }: Bench, { id }: TaskSpec): Promise<Neighbour[]> {
  const rows = (await parts.journal.viewRows('folders')).map(({ row }) => row as FolderRow)
  const found: Neighbour[] = []
  for (const { folder, task } of rows) {
    if (task === id) continue
    const { state } = await tasks.load(task)
    if (state?.spec.workspace.kind === 'folder') found.push({ spec: state.spec, folder, found: parts.workspaces.found(state.spec) })
  }
  return found
}

/** Whether what lies in a folder is loaded by programs that are run for a task: beside the configuration, beside what is run, in a copy of the repository. */
function reach({ parts }: Bench, { workspace }: TaskSpec, places: readonly string[]): (folder: string) => boolean {
  const { config } = parts.workspaces
  return (folder) =>
    [config, ...places].some((place) => isWithin(folder, place)) || (workspace.kind === 'worktree' && isWithin(config, folder))
}

function differing(before: Record<string, string>, now: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...paths].filter((path) => before[path] !== now[path]).sort()
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return !isAbsolute(way) && way !== '..' && !way.startsWith('../')
}

/**
 * The folder of a neighbour as it was before its work, with what was installed; without any package where one that was there is another now: a program
 * that cannot load what it needs ends without a word, one that loads a worker's files would say the worker's.
 */
export async function copyBefore(
  { parts }: Bench,
  { spec, found }: Neighbour,
): Promise<{ folder: string; dispose(): Promise<void> } | undefined> {
  if (found === undefined) return undefined
  const { changed, replaced, added } = await parts.workspaces.meddled(spec)
  return copyForJudge(parts, found, changed.length === 0 ? { packagesFor: spec, withoutPackages: [...replaced, ...added] } : {})
}
