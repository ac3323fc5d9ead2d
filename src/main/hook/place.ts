import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { HookCall } from '../../doors/hook/call.ts'
import type { Dialect } from '../../doors/hook/dialects.ts'
import { sessionStream } from '../../engine/sessions/stream.ts'
import { knownProjects } from './known-projects.ts'

/** The project that a session belongs to. */
export interface Place {
  /** The folder whose configuration judges it. */
  folder: string
  /** Others that say the session is theirs, or could have: where there is one, nobody can tell who is to judge. */
  rivals: string[]
  /** Every folder around that has a journal, this one first: where something can be on record. */
  journals: string[]
}

/**
 * Where a session belongs. It is looked for around the folder which the agent's own variable names, around the one that the hook runs in, and around the
 * one that the agent says it is in. A session stays with the project that has it on record; one that nobody saw begin belongs to the project which this
 * machine's user had first, else to the outermost: an agent that makes one of its own, further down or further up, brings no judge of its own. What
 * dates a journal bears says nothing, for whoever writes one writes them.
 */
export function projectFolder(agent: string, dialect: Dialect, call: HookCall, { cwd, env }: Surroundings): Place | undefined {
  const named = dialect.folderVariable === undefined ? undefined : env[dialect.folderVariable]
  const around = [named, cwd, call.cwd].flatMap((place) => (place ? [foldersAround(place)] : []))
  const all = [...new Set(around.flat())]
  const known = knownProjects(env)
  const stream = sessionStream(agent, sessionName(call))
  const has = new Map(all.map((folder) => [folder, hasHeard(folder, stream)]))
  const claims = all.filter((folder) => has.get(folder) === 'yes')
  const projects = around.map((folders) => folders.filter(isProject)).find(({ length }) => length > 0) ?? []
  const [folder, ...others] = inOrder(claims.length > 0 ? claims : projects, known)
  if (folder === undefined) return undefined
  // One that was there before and whose journal is gone or torn may have known it.
  const earlier = all.filter((other) => isEarlier(other, folder, known) && has.get(other) === 'unreadable')
  const rivals = claims.length > 0 ? [...new Set([...others, ...earlier.filter((other) => other !== folder)])] : []
  const journals = [folder, ...all.filter((other) => other !== folder && has.get(other) !== 'unreadable').reverse()]
  return { folder, rivals, journals }
}

const isProject = (folder: string): boolean => existsSync(join(folder, 'assay.yaml'))

/** As this machine's user came to know them; those that are not known yet come last, as they stand. */
function inOrder(folders: readonly string[], known: readonly string[]): string[] {
  const place = (folder: string) => (known.includes(folder) ? known.indexOf(folder) : known.length)
  return [...folders].sort((one, other) => place(one) - place(other))
}

const isEarlier = (one: string, other: string, known: readonly string[]): boolean =>
  known.includes(one) && (!known.includes(other) || known.indexOf(one) < known.indexOf(other))

export interface Surroundings {
  cwd: string
  env: NodeJS.ProcessEnv
}

/** Folders with an `assay.yaml` or a journal from a place upwards, the outermost first; none beyond a folder that others can write. */
function foldersAround(place: string): string[] {
  const found: string[] = []
  for (let folder = resolve(place); ; folder = dirname(folder)) {
    if (found.length > 0 && isOpen(folder)) break
    if (isProject(folder) || existsSync(journalIn(folder))) found.unshift(folder)
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

const journalIn = (folder: string): string => join(folder, '.assay', 'assay.db')

/** Whether a project's journal has anything of a stream. */
function hasHeard(folder: string, stream: string): 'yes' | 'no' | 'unreadable' {
  if (!existsSync(journalIn(folder))) return 'unreadable'
  try {
    const db = new DatabaseSync(journalIn(folder), { readOnly: true, timeout: 100 })
    try {
      return db.prepare('SELECT 1 FROM events WHERE stream = ? LIMIT 1').get(stream) === undefined ? 'no' : 'yes'
    } finally {
      db.close()
    }
  } catch {
    // Opening it, where it is the one to judge, says what is wrong.
    return 'unreadable'
  }
}
