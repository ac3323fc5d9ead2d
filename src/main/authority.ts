import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { sha256Hex } from '../contract/canonical.ts'
import type { Authority } from '../doors/cli/app.ts'

/** Set by programs that run commands for an agent; whoever has one of them is not a person at a terminal. */
export const agentVariables = [
  'CLAUDECODE',
  'AI_AGENT',
  'AGENT',
  'OPENCODE_CLIENT',
  'CODEX_SANDBOX',
  'GEMINI_CLI',
  'CURSOR_AGENT',
  'ASSAY_RUN_ID',
]

/** Where the owner's token lives: outside every project, hidden from sandboxed workers. */
export function tokenPath(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), '.config'), 'assay', 'owner-token')
}

/**
 * Whether whoever runs this command may speak for the owner. A person at a terminal may; anybody else shows the token in
 * `ASSAY_OWNER_TOKEN`. The token is made on first use.
 */
export function ownerAuthority({ env, person }: { env: NodeJS.ProcessEnv; person: boolean }): Authority {
  const path = tokenPath(env)
  const token = readToken(path) ?? makeToken(path)
  const shown = env.ASSAY_OWNER_TOKEN
  if (shown !== undefined) {
    if (same(shown.trim(), token)) return { ok: true, by: ownerName(), token: sha256Hex(token) }
    return { ok: false, message: `ASSAY_OWNER_TOKEN is not the owner's token; it stands in ${path}` }
  }
  const agent = agentVariables.find((variable) => env[variable])
  if (person && agent === undefined) return { ok: true, by: ownerName(), token: sha256Hex(token) }
  const why = agent === undefined ? 'no person is at a terminal here' : `an agent runs this command (${agent} is set)`
  return {
    ok: false,
    message: `this needs the owner's authority, and ${why}. Run it yourself, or set ASSAY_OWNER_TOKEN to what stands in ${path}`,
  }
}

/** Digest of the owner's token, which is made where there is none. */
export function ownerToken(env: NodeJS.ProcessEnv): string {
  const path = tokenPath(env)
  return sha256Hex(readToken(path) ?? makeToken(path))
}

/**
 * The token with which an agent outside gives verdicts: made of the owner's and the agent's name, so that nothing is kept, and whoever cannot
 * read the owner's token cannot make one.
 */
export function reviewerToken(env: NodeJS.ProcessEnv, agent: string): string {
  const path = tokenPath(env)
  return createHmac('sha256', readToken(path) ?? makeToken(path))
    .update(`assay reviewer ${agent}`)
    .digest('base64url')
}

/** Whether a server may give verdicts in an agent's name: it shows the agent's token in `ASSAY_REVIEWER_TOKEN`, or the owner's. */
export function reviewerAuthority(env: NodeJS.ProcessEnv, agent: string): Authority {
  const shown = env.ASSAY_REVIEWER_TOKEN
  if (shown === undefined && env.ASSAY_OWNER_TOKEN !== undefined) return ownerAuthority({ env, person: false })
  if (shown !== undefined && same(shown.trim(), reviewerToken(env, agent))) return { ok: true, by: agent, token: ownerToken(env) }
  const why = shown === undefined ? 'ASSAY_REVIEWER_TOKEN is not set' : `ASSAY_REVIEWER_TOKEN is not ${agent}'s`
  return {
    ok: false,
    message: `a verdict of ${agent} needs its token, and ${why}. The owner prints it with: assay mcp --role reviewer --agent ${agent} --print-token`,
  }
}

function readToken(path: string): string | undefined {
  try {
    const token = readFileSync(path, 'utf8').trim()
    return token === '' ? undefined : token
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Of two processes that make one, the first wins. */
function makeToken(path: string): string {
  const token = randomBytes(32).toString('base64url')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readToken(path) ?? token
    throw error
  }
  writeSync(file, `${token}\n`)
  fsyncSync(file)
  closeSync(file)
  return token
}

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Who the owner is called in the journal. */
export function ownerName(): string {
  try {
    return userInfo().username
  } catch {
    return 'owner'
  }
}
