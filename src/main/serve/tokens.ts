import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'
import type { Problem } from '../../contract/source/problem.ts'

/** A token that somebody chose is at least so long. */
const shortest = 20

export interface TokenRequest {
  /** Agents that the configuration knows. */
  agents: readonly string[]
  /** `NAME=agent`: the agent's token stands in this environment variable. */
  fromEnv: readonly string[]
  /** Agents whose tokens are made here, and kept in a file that only the owner's account reads. */
  made: readonly string[]
  env: NodeJS.ProcessEnv
  /** Where tokens are kept. */
  folder: string
}

export interface WorkerTokens {
  /** Agents by the SHA-256 of their tokens. */
  digests: Map<string, string>
  files: { agent: string; file: string }[]
}

/** Tokens of workers, each for one agent. What is wrong is told before anything listens. */
export function workerTokens({ agents, fromEnv, made, env, folder }: TokenRequest): Result<WorkerTokens, Problem[]> {
  const digests = new Map<string, string>()
  const files: WorkerTokens['files'] = []
  const problems: Problem[] = []
  const wrong = (message: string) => problems.push({ file: 'serve', path: '', message })
  const add = (agent: string, token: string) => {
    if (!agents.includes(agent)) return wrong(`there is no agent ${agent}; there are: ${agents.join(', ') || 'none'}`)
    const digest = sha256Hex(token)
    if (digests.has(digest)) return wrong(`${agent} has the same token as ${digests.get(digest)}: each agent needs its own`)
    return digests.set(digest, agent)
  }
  for (const pair of fromEnv) {
    const [, name, agent] = /^([A-Za-z_]\w*)=(.+)$/.exec(pair) ?? []
    const token = name === undefined ? undefined : env[name]?.trim()
    if (name === undefined || agent === undefined) wrong(`--worker-token-env takes NAME=agent; got ${pair}`)
    else if (token === undefined || token.length < shortest)
      wrong(`${name} ${token === undefined ? 'is not set' : 'is too short'}: a token has at least ${shortest} characters`)
    else add(agent, token)
  }
  for (const agent of made) {
    if (!agents.includes(agent)) {
      wrong(`there is no agent ${agent}; there are: ${agents.join(', ') || 'none'}`)
      continue
    }
    const file = join(folder, `${sha256Hex(agent).slice(0, 16)}.token`)
    add(agent, keptToken(file, folder))
    files.push({ agent, file })
  }
  return problems.length > 0 ? { ok: false, error: problems } : { ok: true, value: { digests, files } }
}

/** The token of before, so that workers need not be told anew; or a new one. */
function keptToken(file: string, folder: string): string {
  if (existsSync(file)) {
    chmodSync(file, 0o600)
    return readFileSync(file, 'utf8').trim()
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const token = randomBytes(32).toString('base64url')
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' })
  return token
}
