import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { configAbove } from '../../doors/cli/config-file.ts'
import type { HookCall } from '../../doors/hook/call.ts'
import type { Dialect } from '../../doors/hook/dialects.ts'
import { sessionStream } from '../../engine/sessions/stream.ts'

/**
 * The folder whose configuration judges a session: that of the folder which the agent's own variable names, else of the one it says it is in, else of
 * the one that the hook runs in. A session that began in the project of one of them stays with it: an agent that moves into a folder of its own
 * making brings no judge of its own.
 */
export function projectFolder(agent: string, dialect: Dialect, call: HookCall, { cwd, env }: Surroundings): string | undefined {
  const named = dialect.folderVariable === undefined ? undefined : env[dialect.folderVariable]
  const configs = [named, call.cwd, cwd].flatMap((place) => (place ? (configAbove(place) ?? []) : []))
  const nearest = [...new Set(configs)].map((config) => dirname(config))
  for (const from of nearest)
    for (let folder = from; ; folder = dirname(folder)) {
      if (hasSession(folder, agent, sessionName(call))) return folder
      if (dirname(folder) === folder) break
    }
  return nearest[0]
}

export interface Surroundings {
  cwd: string
  env: NodeJS.ProcessEnv
}

/** The journal's name for a session: its id where that is a plain word, else a hash of it. */
export function sessionName({ session }: Pick<HookCall, 'session'>): string {
  if (session === '') return 'default'
  return /^[\x21-\x7e]{1,200}$/.test(session) ? session : createHash('sha256').update(session).digest('hex').slice(0, 32)
}

function hasSession(folder: string, agent: string, session: string): boolean {
  const path = join(folder, '.assay', 'assay.db')
  if (!existsSync(path) || !existsSync(join(folder, 'assay.yaml'))) return false
  try {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 100 })
    try {
      return db.prepare('SELECT 1 FROM streams WHERE stream = ?').get(sessionStream(agent, session)) !== undefined
    } finally {
      db.close()
    }
  } catch {
    // A journal that cannot be read is no reason to look elsewhere; opening it says what is wrong.
    return true
  }
}
