import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../contract/canonical.ts'
import type { Result } from '../../contract/errors.ts'
import type { Problem } from '../../contract/source/problem.ts'
import type { GivenToken } from '../../doors/cli/app.ts'

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
  judging: Judging
}

/** Who may judge, and what it takes to let somebody: whoever has such a token grades work. */
export interface Judging {
  mayJudge(agent: string): boolean
  /** The token that the owner prints for the agent; where nobody speaks for the owner here, why not. */
  made(agent: string): Promise<Result<string, string>>
  /** Why this token does not let its bearer judge as the agent; undefined where the owner stands behind it. */
  unproven(agent: string, token: string): Promise<string | undefined>
}

export interface WorkerTokens {
  /** Agents by the SHA-256 of their tokens. */
  digests: Map<string, string>
  given: GivenToken[]
}

/**
 * Tokens of agents, each for one. One that may judge has the token that the owner prints for it, of which nothing is kept in the project, or one that the
 * owner brings: a file that somebody put there is none. What is wrong is told before anything listens.
 */
export async function workerTokens({
  agents,
  fromEnv,
  made,
  env,
  folder,
  judging,
}: TokenRequest): Promise<Result<WorkerTokens, Problem[]>> {
  const digests = new Map<string, string>()
  const given: GivenToken[] = []
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
    else {
      const unproven = judging.mayJudge(agent) ? await judging.unproven(agent, token) : undefined
      if (unproven === undefined) add(agent, token)
      else wrong(`whoever has the token in ${name} would judge as ${agent}: ${unproven}`)
    }
  }
  for (const agent of made) {
    if (!agents.includes(agent)) {
      wrong(`there is no agent ${agent}; there are: ${agents.join(', ') || 'none'}`)
      continue
    }
    if (judging.mayJudge(agent)) {
      const token = await judging.made(agent)
      if (token.ok) add(agent, token.value)
      else wrong(`whoever has a token of ${agent} judges as ${agent}: ${token.error}`)
      given.push({ agent, printedBy: printedBy(agent) })
      continue
    }
    const file = join(folder, `${sha256Hex(agent).slice(0, 16)}.token`)
    add(agent, keptToken(file, folder))
    given.push({ agent, file })
  }
  return problems.length > 0 ? { ok: false, error: problems } : { ok: true, value: { digests, given } }
}

/** The command with which the owner prints the token of an agent that may judge. */
export const printedBy = (agent: string): string => `assay mcp --role reviewer --agent ${agent} --print-token`

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
