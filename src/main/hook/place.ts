import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { HookCall } from '../../doors/hook/call.ts'
import type { Dialect } from '../../doors/hook/dialects.ts'
import { sessionStream } from '../../engine/sessions/stream.ts'

/**
 * The folder whose configuration judges a session. It is looked for around the folder which the agent's own variable names, around the one that the
 * hook runs in, and around the one that the agent says it is in. A session stays with the project that it first began in; one that nobody saw begin
 * belongs to the outermost project there, unless one inside of it
 * is older by its journal: an agent that makes one of its own, further down or further up, brings no judge of its own.
 */
export function projectFolder(agent: string, dialect: Dialect, call: HookCall, { cwd, env }: Surroundings): string | undefined {
  const named = dialect.folderVariable === undefined ? undefined : env[dialect.folderVariable]
  const around = [named, cwd, call.cwd].flatMap((place) => (place ? [projectsAround(place)] : []))
  const begun = oldest([...new Set(around.flat())], sessionStream(agent, sessionName(call)))
  if (begun !== undefined) return begun
  const projects = around.find(({ length }) => length > 0) ?? []
  const [outermost] = projects
  return outermost !== undefined && heardOf(outermost) !== undefined ? oldest(projects) : outermost
}

/** The folder whose journal was the first to hear anything, or anything of a stream. */
function oldest(folders: readonly string[], stream?: string): string | undefined {
  const heard = folders.flatMap((folder) => {
    const at = heardOf(folder, stream)
    return at === undefined ? [] : [{ folder, at }]
  })
  return heard.sort((one, other) => one.at.localeCompare(other.at))[0]?.folder
}

export interface Surroundings {
  cwd: string
  env: NodeJS.ProcessEnv
}

/** Folders with an `assay.yaml` from a place upwards, the outermost first; none beyond a folder that others can write. */
function projectsAround(place: string): string[] {
  const found: string[] = []
  for (let folder = resolve(place); ; folder = dirname(folder)) {
    if (found.length > 0 && isOpen(folder)) break
    if (existsSync(join(folder, 'assay.yaml'))) found.unshift(folder)
    if (dirname(folder) === folder) break
  }
  return found
}

/** Whether somebody else could have put a file there. */
function isOpen(folder: string): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false })
  const own = process.getuid?.() ?? stat?.uid
  return stat === undefined || (stat.uid !== own && stat.uid !== 0) || (stat.mode & 0o002) !== 0
}

/** The journal's name for a session: its id where that is a plain word, else a hash of it. */
export function sessionName({ session }: Pick<HookCall, 'session'>): string {
  if (session === '') return 'default'
  return /^[\x21-\x7e]{1,200}$/.test(session) ? session : createHash('sha256').update(session).digest('hex').slice(0, 32)
}

/** When a project's journal first heard anything, or anything of a stream; undefined where it never did. */
function heardOf(folder: string, stream?: string): string | undefined {
  const path = join(folder, '.assay', 'assay.db')
  if (!existsSync(path)) return undefined
  try {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 100 })
    try {
      const row =
        stream === undefined
          ? db.prepare('SELECT body FROM events ORDER BY position LIMIT 1').get()
          : db.prepare('SELECT body FROM events WHERE stream = ? AND version = 1').get(stream)
      return row === undefined ? undefined : String((JSON.parse(String(row.body)) as { meta?: { at?: string } }).meta?.at ?? '')
    } finally {
      db.close()
    }
  } catch {
    // A journal that cannot be read is no reason to look elsewhere; opening it says what is wrong.
    return ''
  }
}
