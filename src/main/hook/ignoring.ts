import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import { Git } from '../../adapters/workspace/worktree/git/git.ts'
import { canonicalJson } from '../../contract/canonical.ts'
import { ignoreFilesAbove, minding, topOf } from './look.ts'

/** What decides beside a folder's own `.gitignore` files which of its files count: where its repository has its top, and the rules from there down. */
export const Ignoring = z.strictObject({
  /** Null where everything counts: there was no repository. */
  top: z.string().nullable(),
  /** Texts of `.gitignore` files above the folder, by their folders' paths in the repository. */
  above: z.record(z.string(), z.string()),
})
export type Ignoring = z.infer<typeof Ignoring>

export function ignoringAt(folder: string, isRepository: boolean): Ignoring {
  const top = isRepository ? topOf(folder) : undefined
  return top === undefined ? { top: null, above: {} } : { top, above: ignoreFilesAbove(folder) }
}

export const isSame = (one: Ignoring, other: Ignoring): boolean => canonicalJson(one) === canonicalJson(other)

/**
 * Every file of a folder that rules of an earlier time do not ignore, whatever a repository there knows or says by now: `inside` are the texts of
 * the folder's own `.gitignore` files then, by their paths in it. A folder among the answers is a repository of its own.
 */
export async function shownBy(folder: string, { top, above }: Ignoring, inside: ReadonlyMap<string, string>): Promise<string[]> {
  const root = realpathSync(folder)
  const isAround = top !== null && (top === root || root.startsWith(`${top}/`))
  const tree = isAround ? top : root
  const way = relative(tree, root)
  const files = [
    ...Object.entries(isAround ? above : {}).map(([path, text]) => [join(path, '.gitignore'), text] as const),
    ...[...inside].map(([path, text]) => [join(way, path), text] as const),
  ]
  const rules = files.sort(([one], [other]) => depth(one) - depth(other)).flatMap(([path, text]) => rulesFrom(path, text))
  // A repository that knows no file and has no settings, so that rules alone decide.
  const home = join(folder, '.assay')
  mkdirSync(home, { recursive: true })
  const blank = mkdtempSync(join(home, 'rules-'))
  try {
    for (const part of ['objects', 'refs']) mkdirSync(join(blank, part))
    writeFileSync(join(blank, 'HEAD'), 'ref: refs/heads/none\n')
    writeFileSync(join(blank, 'rules'), rules.map((rule) => `${rule}\n`).join(''))
    const args = [...minding, 'ls-files', '-z', '--others', `--exclude-from=${join(blank, 'rules')}`]
    return pathsIn(await new Git().text({ cwd: root, args, env: { GIT_DIR: resolve(blank), GIT_WORK_TREE: tree } }))
  } finally {
    rmSync(blank, { recursive: true, force: true })
  }
}

export const pathsIn = (stdout: string): string[] => stdout.split('\0').flatMap((path) => (path === '' ? [] : [path.replace(/\/$/, '')]))

/** Undefined where it is gone, or no file any more: either way it is not what it was. */
export function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const depth = (path: string): number => path.split('/').length

/** The rules of one `.gitignore` as seen from the root: with a slash they hold in its folder, without one at any depth below. */
function rulesFrom(path: string, text: string): string[] {
  const folder = dirname(path) === '.' ? '' : `/${dirname(path).replaceAll(/[\\*?[\]!# ]/g, '\\$&')}`
  return text.split('\n').flatMap((line) => {
    const rule = line.replace(/\r$/, '').replace(/(?<!\\) +$/, '')
    if (rule === '' || rule.startsWith('#')) return []
    const [not, pattern] = rule.startsWith('!') ? ['!', rule.slice(1)] : ['', rule]
    const anchored = pattern.slice(0, -1).includes('/')
    if (anchored) return [`${not}${folder}/${pattern.replace(/^\//, '')}`]
    return [folder === '' ? `${not}${pattern}` : `${not}${folder}/**/${pattern}`]
  })
}
