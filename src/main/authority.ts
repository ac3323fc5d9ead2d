import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { sha256Hex } from '../contract/canonical.ts'
import type { Authority } from '../doors/cli/app.ts'
import { agentIn, tokenPath } from './token-path.ts'

/**
 * Whether whoever runs this command may speak for the owner. A person at a terminal may; anybody else shows the token in
 * `ASSAY_OWNER_TOKEN`. The token is made on first use.
 */
export function ownerAuthority({ env, person }: { env: NodeJS.ProcessEnv; person: boolean }): Authority {
  const path = tokenPath(env)
  const agent = agentIn(env)
  const token = agent === undefined ? (readToken(path) ?? makeToken(path)) : tokenBeforeAgent(path)
  const shown = env.ASSAY_OWNER_TOKEN
  if (shown !== undefined) {
    if (token !== undefined && same(shown.trim(), token)) return { ok: true, by: ownerName(), token: sha256Hex(token) }
    return {
      ok: false,
      message: `ASSAY_OWNER_TOKEN is not the owner's token${person && agent === undefined ? `; it stands in ${path}` : ''}`,
    }
  }
  if (person && token !== undefined && agent === undefined) return { ok: true, by: ownerName(), token: sha256Hex(token) }
  // Whoever may be an agent is not told where to look: not every one sets a variable.
  const message =
    agent === undefined
      ? `this needs the owner's authority, and no person is at a terminal here. The owner runs it at a terminal, or sets ASSAY_OWNER_TOKEN`
      : `this needs the owner's authority, and an agent runs this command (${agent} is set). The owner runs it, or sets ASSAY_OWNER_TOKEN`
  return { ok: false, message }
}

/**
 * Who stands behind what this process starts: the owner, where a person at a terminal or the token says so. A server speaks with whoever shows the
 * owner's token, which it reads itself, so it counts unless an agent starts it.
 */
export function startedByOwner(start: {
  env: NodeJS.ProcessEnv
  person: boolean
  serves: boolean
}): { by: string; token: string } | undefined {
  const authority = ownerAuthority(start)
  if (authority.ok) return authority
  const shown = start.env.ASSAY_OWNER_TOKEN !== undefined
  return start.serves && !shown && agentIn(start.env) === undefined ? { by: ownerName(), token: ownerToken(start.env) } : undefined
}

/** A person is there where somebody could type and read. */
export function personIsHere(): boolean {
  return process.stdin.isTTY === true && (process.stdout.isTTY === true || process.stderr.isTTY === true)
}

/** Digest of the owner's token, which is made where there is none. */
export function ownerToken(env: NodeJS.ProcessEnv): string {
  const path = tokenPath(env)
  return sha256Hex(readToken(path) ?? makeToken(path))
}

/** Digest of the token that a new journal takes for its owner's. None where an agent runs in a place that may not write to the owner's home. */
export function tokenToEnrol(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return ownerToken(env)
  } catch (error) {
    if (agentIn(env) === undefined) throw error
    return undefined
  }
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
    message: `reviewing as ${agent} needs its token, and ${why}. The owner prints it with: assay mcp --role reviewer --agent ${agent} --print-token`,
  }
}

/** What an agent's command can see of the owner's token: nothing where it may not read it, as it should be. */
function tokenBeforeAgent(path: string): string | undefined {
  try {
    return readToken(path)
  } catch (error) {
    if (['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

function readToken(path: string): string | undefined {
  try {
    const token = readFileSync(path, 'utf8').trim()
    return token === '' ? undefined : token
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
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
