import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tokenPath } from '../token-path.ts'

/** Bytes of the list; what would make it longer is not noted. */
const mostBytes = 1024 * 1024

/** Beside the owner's token, hidden from sandboxed workers with it. */
const listOf = (env: NodeJS.ProcessEnv): string => join(dirname(tokenPath(env)), 'projects')

/** Folders of projects in which hooks were answered for this machine's user, the first first. Their order counts, no date. */
export function knownProjects(env: NodeJS.ProcessEnv): string[] {
  return [...new Set(textOf(env).split('\n').flatMap(folderIn))]
}

/** Notes a project that is new. Where the list cannot be written, the outermost project goes for the first. */
export function noteProject(env: NodeJS.ProcessEnv, folder: string): void {
  const line = `${JSON.stringify(folder)}\n`
  if (knownProjects(env).includes(folder) || textOf(env).length + line.length > mostBytes) return
  try {
    mkdirSync(dirname(listOf(env)), { recursive: true, mode: 0o700 })
    appendFileSync(listOf(env), line, { mode: 0o600 })
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
}

function textOf(env: NodeJS.ProcessEnv): string {
  try {
    return readFileSync(listOf(env), 'utf8')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return ''
  }
}

const isRefusal = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'EEXIST', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC'].includes((error as NodeJS.ErrnoException).code ?? '')

/** The folder that a line names; a line that was torn names none. */
function folderIn(line: string): string[] {
  try {
    const folder: unknown = JSON.parse(line)
    return typeof folder === 'string' ? [folder] : []
  } catch {
    return []
  }
}
