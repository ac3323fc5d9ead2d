import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative } from 'node:path'

/** Variables that programs need to run at all. None of them is meant to hold a secret. */
const harmless = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_COLLATE',
  'LC_CTYPE',
  'LC_MESSAGES',
  'LC_NUMERIC',
  'LC_TIME',
  'TERM',
  'TZ',
  'TMPDIR',
]

/**
 * Variables that change what other programs load or which repository they act on, and Assay's own.
 * They are not passed on even where a configuration names them.
 */
export function isNeverPassed(name: string): boolean {
  return name === 'NODE_OPTIONS' || /^(LD_|DYLD_|GIT_|ASSAY_)/.test(name)
}

export interface EnvironmentRequest {
  /** Names of further variables to pass on; those that are unset are left out. */
  pass?: readonly string[]
  /** Variables set by us; they win. */
  extra?: Readonly<Record<string, string>>
  /** Where variables come from; this process's environment unless told. */
  from?: Readonly<Record<string, string | undefined>>
}

/** The whole environment of a process, built from names: nothing reaches it because it happened to be there. */
export function buildEnv(request: EnvironmentRequest = {}): Record<string, string> {
  const from = request.from ?? process.env
  const env: Record<string, string> = {}
  for (const name of [...harmless, ...(request.pass ?? [])]) {
    const value = from[name]
    if (value !== undefined && !isNeverPassed(name)) env[name] = value
  }
  if (env.PATH !== undefined) env.PATH = usablePath(env.PATH)
  return { ...env, ...request.extra }
}

/**
 * `npm run` puts every `node_modules/.bin` on the way up in front; a worker would find our Node and tools there instead of its own. An empty or relative
 * entry would mean the working folder, which of a check is the worker's.
 */
function usablePath(path: string): string {
  return path
    .split(':')
    .filter((entry) => isAbsolute(entry) && !/(^|\/)node_modules\/\.bin\/*$/.test(entry))
    .join(':')
}

/**
 * `PATH` for programs of Assay's own, such as git: without folders inside the project that `folder` belongs to. A virtual environment that is active is in
 * `PATH`, and whoever works in the project could put a program of that name there.
 */
export function pathOutside(path: string, folder: string): string {
  const root = outermostProject(folder)
  const isInside = (entry: string) => !/^\.\.(\/|$)/.test(relative(root, entry)) && !isAbsolute(relative(root, entry))
  return path
    .split(':')
    .filter((entry) => !isInside(entry))
    .join(':')
}

/** The outermost folder around it, below the user's own, that is a project or a repository; itself where none is. */
function outermostProject(folder: string): string {
  let found = folder
  for (let at = folder; at !== dirname(at) && at !== homedir(); at = dirname(at))
    if (existsSync(join(at, 'assay.yaml')) || existsSync(join(at, '.git'))) found = at
  return found
}
