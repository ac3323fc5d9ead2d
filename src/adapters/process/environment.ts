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
  if (env.PATH !== undefined) env.PATH = withoutPackageBins(env.PATH)
  return { ...env, ...request.extra }
}

/** `npm run` puts every `node_modules/.bin` on the way up in front; a worker would find our Node and tools there instead of its own. */
function withoutPackageBins(path: string): string {
  return path
    .split(':')
    .filter((entry) => !/(^|\/)node_modules\/\.bin\/*$/.test(entry))
    .join(':')
}
