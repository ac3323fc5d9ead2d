import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type BigIntStats, existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { buildEnv, pathOutside } from '../../adapters/process/environment.ts'
import { isIgnored } from '../../adapters/workspace/ignored.ts'
import { listingArguments, quietSettings, quietSurroundings } from '../../adapters/workspace/worktree/git/quiet.ts'

/** A project at a glance: the same look means that nothing has changed that a review would see. */
export interface Look {
  digest: string
  /** When something in it last changed, in nanoseconds: what changes within the same tick of the clock would not be seen. */
  newest: bigint
}

/** A rule is for names as they are written, whatever this clone's settings say. */
export const minding = ['-c', 'core.ignorecase=false']

const gitTimeoutMs = 10_000
const gitBytes = 64 * 1024 * 1024

/** Folders of which git lists nothing that are looked at; where there are more, no look tells everything. */
const mostUnlisted = 10_000

/**
 * The configuration's text, the variables that set its knobs, rules above of what is ignored, and kind, size, place and times of every file that git would take, of those in `hidden`
 * besides, and of every folder that no rule ignores. Undefined where that does not tell everything: outside of a repository, or where it holds another one.
 */
export function lookOf(folder: string, env: NodeJS.ProcessEnv, hidden: readonly string[] = []): Look | undefined {
  const hash = createHash('sha256')
  hash.update(readFileSync(join(folder, 'assay.yaml')))
  for (const name of Object.keys(env).sort()) if (/^(EVAL$|EVAL_|ASSAY_)/.test(name)) hash.update(`\0${name}=${env[name]}`)
  hash.update(`\0${JSON.stringify([topOf(folder), ignoreFilesAbove(folder)])}`)
  let newest = 0n
  const folders = new Set(['.'])
  const note = (path: string, stat: BigIntStats | undefined) => {
    if (stat && stat.ctimeNs > newest) newest = stat.ctimeNs
    hash.update(stat ? `\0${path}\0${stat.mode} ${stat.size} ${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}` : `\0${path}\0gone`)
  }
  for (const path of [...listing(folder, env, listingArguments), ...hidden]) {
    const stat = lstatSync(join(folder, path), { bigint: true, throwIfNoEntry: false })
    if (stat?.isDirectory()) return undefined
    note(path, stat)
    for (let above = dirname(path); !folders.has(above); above = dirname(above)) folders.add(above)
  }
  const unlisted = unlistedFolders(folder, env, folders)
  if (unlisted === undefined) return undefined
  // A folder's times tell what came and went in it, whether git would list it or not.
  for (const one of [...folders, ...unlisted]) note(`${one}/`, lstatSync(join(folder, one), { bigint: true, throwIfNoEntry: false }))
  return { digest: hash.digest('hex'), newest }
}

/** Paths that git answers with. */
function listing(folder: string, env: NodeJS.ProcessEnv, args: readonly string[]): string[] {
  const listed = execFileSync('git', ['--no-pager', ...quietSettings, ...minding, ...args], {
    cwd: folder,
    env: outside(buildEnv({ extra: { ...quietSurroundings, ...ownTree(folder) }, from: env }), folder),
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: gitTimeoutMs,
    maxBuffer: gitBytes,
  })
  return listed.split('\0').filter((path) => path !== '')
}

/**
 * Folders that are empty or hold ignored files alone, though no rule ignores them: what comes to lie there with a rule of its own that hides it shows nowhere
 * else. Undefined where there are too many. Git is asked only where there is a folder of which it listed nothing.
 */
function unlistedFolders(folder: string, env: NodeJS.ProcessEnv, known: ReadonlySet<string>): string[] | undefined {
  if (![...known].some((one) => foldersIn(folder, one).some((path) => !known.has(path)))) return []
  const untracked = listing(folder, env, ['ls-files', '-z', '--others', '--directory', '--exclude-per-directory=.gitignore'])
  const open = untracked.flatMap((path) => (path.endsWith('/') && !isOther(folder, path) ? [path.slice(0, -1)] : []))
  const found: string[] = []
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (found.length >= mostUnlisted) return undefined
    if (!known.has(at)) found.push(at)
    open.push(...foldersIn(folder, at))
  }
  return found.sort()
}

const isOther = (folder: string, path: string): boolean => isIgnored(path, { workspace: { kind: 'folder', path: folder } })

function foldersIn(folder: string, path: string): string[] {
  // One that git knows may be gone.
  if (!lstatSync(join(folder, path), { throwIfNoEntry: false })?.isDirectory()) return []
  const entries = readdirSync(join(folder, path), { withFileTypes: true })
  const paths = entries.flatMap((entry) => (entry.isDirectory() ? [path === '.' ? entry.name : `${path}/${entry.name}`] : []))
  return paths.filter((inner) => !isOther(folder, inner))
}

/** The files that a repository is of lie where its `.git` does, whatever its settings say since an agent may have written them. */
export function ownTree(folder: string): Record<string, string> {
  const top = topOf(folder)
  return top === undefined ? {} : { GIT_WORK_TREE: top }
}

/** The nearest folder, this one or one above, that has a `.git`. */
export function topOf(folder: string): string | undefined {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return undefined
  }
}

/** Texts of the `.gitignore` files above a folder that count for it, by their folders' paths in the repository. */
export function ignoreFilesAbove(folder: string): Record<string, string> {
  const top = topOf(folder)
  const found: Record<string, string> = {}
  if (top === undefined) return found
  for (let at = realpathSync(folder); at !== top; ) {
    at = dirname(at)
    const file = join(at, '.gitignore')
    // Git takes no rules from anything but a file.
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile()) found[relative(top, at)] = readFileSync(file, 'utf8')
  }
  return found
}

/** Git is ours, not one that lies in the project. */
function outside(env: Record<string, string>, folder: string): Record<string, string> {
  return env.PATH === undefined ? env : { ...env, PATH: pathOutside(env.PATH, folder) }
}
