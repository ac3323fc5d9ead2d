import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type BigIntStats, existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { buildEnv, pathOutside } from '../../adapters/process/environment.ts'
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

/**
 * The configuration's text, the variables that set its knobs, rules above of what is ignored, and kind, size, place and times of every file that git would take, of those in `hidden`
 * besides, and of the folders they are in. Undefined where that does not tell everything: outside of a repository, or where it holds another one.
 */
export function lookOf(folder: string, env: NodeJS.ProcessEnv, hidden: readonly string[] = []): Look | undefined {
  const hash = createHash('sha256')
  hash.update(readFileSync(join(folder, 'assay.yaml')))
  for (const name of Object.keys(env).sort()) if (/^(EVAL$|EVAL_|ASSAY_)/.test(name)) hash.update(`\0${name}=${env[name]}`)
  hash.update(`\0${JSON.stringify([topOf(folder), ignoreFilesAbove(folder)])}`)
  const listed = execFileSync('git', ['--no-pager', ...quietSettings, ...minding, ...listingArguments], {
    cwd: folder,
    env: outside(buildEnv({ extra: { ...quietSurroundings, ...ownTree(folder) }, from: env }), folder),
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: gitTimeoutMs,
    maxBuffer: gitBytes,
  })
  let newest = 0n
  const folders = new Set(['.'])
  const note = (path: string, stat: BigIntStats | undefined) => {
    if (stat && stat.ctimeNs > newest) newest = stat.ctimeNs
    hash.update(stat ? `\0${path}\0${stat.mode} ${stat.size} ${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}` : `\0${path}\0gone`)
  }
  for (const path of [...listed.split('\0'), ...hidden]) {
    if (path === '') continue
    const stat = lstatSync(join(folder, path), { bigint: true, throwIfNoEntry: false })
    if (stat?.isDirectory()) return undefined
    note(path, stat)
    for (let above = dirname(path); !folders.has(above); above = dirname(above)) folders.add(above)
  }
  // A folder's times tell what came and went in it, whether git would list it or not.
  for (const above of folders) note(`${above}/`, lstatSync(join(folder, above), { bigint: true, throwIfNoEntry: false }))
  return { digest: hash.digest('hex'), newest }
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
