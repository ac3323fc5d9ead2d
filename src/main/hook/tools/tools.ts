import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import { lookAtInstalled, tooMany } from '../../../adapters/workspace/held-folder/installed.ts'
import { InstalledPackages } from '../../../adapters/workspace/held-folder/packages.ts'
import { pathFoldersIn } from '../../../adapters/workspace/held-folder/programs.ts'
import { canonicalJson, Digest } from '../../../contract/canonical.ts'
import { expandChecks } from '../../../contract/check.ts'
import { programWords } from '../../../contract/checks/program.ts'
import type { Config } from '../../../contract/config/config.ts'
import { visible } from '../../../contract/source/shown.ts'
import { judgingBrains } from '../../../engine/project.ts'
import { programsChanged } from '../../../engine/work/checking/installed.ts'
import type { SnapshotStore } from '../../../ports/snapshots.ts'
import { filesOf } from '../../brain-files.ts'
import type { TakenFolder } from '../folder.ts'
import { Ignoring } from '../ignoring.ts'
import { agentPrograms, lostAgent, ownedAgent } from './agent-programs.ts'
import { standing } from './standing.ts'

/**
 * What programs of judges and checks load and no snapshot has, as it stood when a session began: installed packages, and by its path whatever holds a
 * program; and what decided, around the folder, which files count.
 */
export const Tools = z.strictObject({
  packages: z.strictObject({ installed: Digest, contents: Digest, suspect: z.record(z.string(), z.string()) }).optional(),
  /** Packages of folders around, which programs find as well, by their whole path. */
  above: z.record(z.string(), z.string()),
  kept: z.record(z.string(), z.string()),
  /** Where PATH led to programs of agents, by their names. */
  agents: z.record(z.string(), z.string()).optional(),
  ignoring: Ignoring.optional(),
})
export type Tools = z.infer<typeof Tools>

export interface ToolPlace {
  folder: string
  config: Config
  snapshots: SnapshotStore
}

const mostNamed = 5

const packagesAt = ({ folder, snapshots }: Pick<ToolPlace, 'folder' | 'snapshots'>): InstalledPackages =>
  new InstalledPackages({ folder: join(folder, '.assay', 'work'), snapshots }, realpathSync(folder))

/** Notes how tools stand now, and the rules that count. `listed`: git would take files that lie among packages; `whoever`: whoever left them so. */
export async function noteTools(
  place: ToolPlace,
  snapshot: Digest,
  { listed, ignoring, whoever = false }: { listed: boolean; ignoring: Ignoring; whoever?: boolean },
): Promise<Digest> {
  const { folder, config, snapshots } = place
  const paths = new Set((await snapshots.manifest(snapshot))?.files.map(({ path }) => path))
  const folders = new Set([...paths].flatMap((path) => prefixesOf(path).slice(0, -1)))
  const programs = [...judgeFiles(folder, config), ...checkFiles(folder, config)].filter((path) => !paths.has(path))
  // The outermost folder around a program of which the snapshot has nothing, or the program alone.
  const kept = [...new Set(programs.map((path) => prefixesOf(path).find((prefix) => !folders.has(prefix)) ?? path))]
  const loads = loadsPackages(config)
  const packages = listed || loads || leadsHere(place).length > 0 ? await packagesAt(place).note({ whoever }) : undefined
  const stand = (some: readonly string[]) => Object.fromEntries(some.map((path) => [path, standing(resolve(folder, path))]))
  const above = stand(loads ? packagesAbove(folder) : [])
  const tools: Tools = { ...(packages && { packages }), above, kept: stand(kept), agents: agentPrograms(config), ignoring }
  return snapshots.putText(JSON.stringify(tools))
}

export async function readTools(snapshots: SnapshotStore, digest: Digest | undefined): Promise<Tools | undefined> {
  const text = digest === undefined ? undefined : await snapshots.getText(digest)
  return text === undefined ? undefined : Tools.parse(JSON.parse(text))
}

/** What of the tools is not as it was, in words; undefined where nothing is. What is not so any more is remembered for later sessions. */
export async function toolsChanged(
  place: ToolPlace,
  tools: Tools,
  taken: Pick<TakenFolder, 'beside' | 'isListed'>,
): Promise<string | undefined> {
  const { folder, config, snapshots } = place
  const appeared = loadsPackages(config) ? packagesAbove(folder).filter((path) => !(path in tools.above)) : []
  const known = Object.entries({ ...tools.kept, ...tools.above })
  const moved = [...known.flatMap(([path, stood]) => (standing(resolve(folder, path)) === stood ? [] : [path])), ...appeared]
  if (moved.length > 0)
    return `${named(moved)}, from which judges or checks run or load, is not as it was known: put it back, or the owner accepts it (assay policy accept)`
  const { packages } = tools
  if (!packages) {
    const led = leadsHere(place)
    if (led.length > 0) return `${programsChanged(led)}. ${mendPath}`
    return (
      lostAgent(config, tools.agents) ?? ownedAgent(config, folder) ?? (taken.beside.length === 0 ? undefined : amongPackages(taken.beside))
    )
  }
  const { changed, replaced, added, programs = [] } = await packagesAt(place).changes(packages)
  if (runsPrograms(config) && programs.length > 0) {
    await packagesAt(place).suspect(packages, loadsPackages(config) ? [...changed, ...replaced] : [], programs)
    return `${programsChanged(programs)}. ${mendPath}`
  }
  const lost = lostAgent(config, tools.agents) ?? ownedAgent(config, folder)
  if (lost !== undefined) return lost
  if (loadsPackages(config) && changed.length + replaced.length > 0) {
    await packagesAt(place).suspect(packages, [...changed, ...replaced])
    return `installed packages that judges or checks may load are not what they were known to be (${named([...changed, ...replaced])}): install the same again, or the owner accepts them (assay policy accept)`
  }
  const before = JSON.parse((await snapshots.getText(packages.installed)) ?? '{}') as Record<string, string>
  const counts = loadsPackages(config) || taken.beside.length > 0
  if (counts && tooMany in before)
    return `nobody can tell whether packages are what they were: there are too many files to look at, ${tooMany}`
  const unchanged = new Set(Object.keys(before).filter((path) => !changed.includes(path)))
  const unseen = [
    ...taken.beside.filter((path) => !prefixesOf(path).some((prefix) => unchanged.has(prefix))),
    ...[...changed, ...replaced, ...added].filter((path) => taken.isListed(path)),
  ]
  return unseen.length === 0 ? undefined : amongPackages([...new Set(unseen)])
}

/** How tools stand at this moment: what is changed and put back in between does not stand as it did. */
export async function toolsMoment({ folder }: ToolPlace, { packages, above, kept }: Tools): Promise<string> {
  const paths = [...Object.keys(above), ...Object.keys(kept)]
  return canonicalJson({
    installed: packages ? await lookAtInstalled(realpathSync(folder)) : {},
    paths: paths.map((path) => standing(resolve(folder, path))),
  })
}

/** Why nothing can be said of tools, where nobody saw how they stood. */
export async function toolsUnseen(
  { folder, config, snapshots }: ToolPlace,
  ground: Digest,
  { beside }: Pick<TakenFolder, 'beside'>,
): Promise<string | undefined> {
  if (beside.length > 0) return amongPackages(beside)
  const paths = new Set((await snapshots.manifest(ground))?.files.map(({ path }) => path))
  const why = 'nobody saw this session begin, and nobody knows how it stood before'
  const [led] = leadsHere({ folder, config }).filter((path) => existsSync(join(folder, path)))
  if (led !== undefined) return `PATH leads judges and checks to ${visible(led)}: ${why}`
  const [program] = checkFiles(folder, config).filter((path) => !paths.has(path))
  if (program !== undefined) return `a check runs ${visible(program)}: ${why}`
  const owned = ownedAgent(config, folder)
  if (owned !== undefined) return owned
  const installed = [join(folder, 'node_modules'), ...packagesAbove(folder)].some((path) => existsSync(path))
  if (loadsPackages(config) && installed) return `judges or checks may load packages of node_modules: ${why}`
  return undefined
}

const amongPackages = (paths: readonly string[]): string =>
  `files that git takes lie where nothing is reviewed (${named(paths)}): move them, or let .gitignore name their folder`

function named(paths: readonly string[]): string {
  const more = paths.length - mostNamed
  return [...paths.slice(0, mostNamed).map((path) => visible(path)), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/** Where programs find packages beside those of the folder itself. */
function packagesAbove(folder: string): string[] {
  const found: string[] = []
  for (let at = realpathSync(folder); at !== dirname(at); ) {
    at = dirname(at)
    const path = join(at, 'node_modules')
    if (existsSync(path)) found.push(path)
  }
  return found
}

/** Folders of the project in which programs of judges and checks are looked up by name, by their paths in it. */
function leadsHere({ folder, config }: Pick<ToolPlace, 'folder' | 'config'>): string[] {
  return runsPrograms(config) ? pathFoldersIn(realpathSync(folder)).map(({ place }) => place || '.') : []
}

const mendPath =
  'Make them what they were and remove what is new, begin a new session with a PATH that does not lead into the project, or the owner accepts them (assay policy accept)'

/** Agents are programs too, but load nothing of the project's. */
const runsPrograms = (config: Config): boolean => loadsPackages(config) || Object.values(config.brains).some(({ kind }) => kind === 'agent')

/** Programs alone load what is installed. */
function loadsPackages(config: Config): boolean {
  const judges = judgingBrains(config).some((name) => config.brains[name]?.kind === 'command')
  return judges || expandChecks(config.checks).some(({ kind }) => kind === 'command')
}

/** Files of judges' programs in the folder, by their paths in it. */
export function judgeFiles(folder: string, config: Config): string[] {
  return inside(
    folder,
    judgingBrains(config).flatMap((name) => filesOf(config.brains[name], folder)),
  )
}

function checkFiles(folder: string, config: Config): string[] {
  const files = expandChecks(config.checks).flatMap((spec) =>
    spec.kind === 'command'
      ? programWords(spec.argv).flatMap(({ path }) => [resolve(folder, path), resolve(folder, spec.cwd ?? '', path)])
      : [],
  )
  return inside(folder, files)
}

/** Files of the folder, by their paths in it, but for those that are looked after elsewhere. */
function inside(folder: string, files: readonly string[]): string[] {
  const isFile = (file: string) => statSync(file, { throwIfNoEntry: false })?.isFile() === true
  const ways = files.filter(isFile).map((file) => relative(folder, file))
  return [...new Set(ways)].filter((way) => !isAbsolute(way) && !way.split('/').some((part) => elsewhere.has(part)))
}

const elsewhere = new Set(['..', 'node_modules', '.git', '.assay'])

function prefixesOf(path: string): string[] {
  const steps = path.split('/')
  return steps.map((_step, at) => steps.slice(0, at + 1).join('/'))
}
