import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { judgeQuestion } from '../model-server/model-judge.ts'
import { verdictToolSchema } from '../../core/verdict/tool-schema.ts'
import type { BrainPort, JudgeEnding, JudgeQuestion, WorkEnding } from '../../ports/brain.ts'
import { specWith } from '../task/world.ts'
import { type AgentBrainOptions, openAgentBrain } from '../../adapters/brains/agent/brain.ts'

export type AgentName = AgentBrainOptions['brain']['agent']

/** What a stand-in prints and how it ends. */
export interface Part {
  /** A file of the agents' fixtures for standard output, or for standard error (`.err`), as the real agent printed it. */
  prints?: string
  /** Put in the place of what the model said in it. */
  says?: string
  structured?: string
  /** Further changes to the file's text; each must change something. */
  instead?: readonly (readonly [string, string])[]
  exit?: number
  /** Shell commands, before anything is printed and after it. */
  does?: string
  afterwards?: string
}

export interface Stage {
  project: string
  workspace: string
  /** Outside of the project: the folder of PATH that has the stand-ins, and the user's own. */
  bin: string
  home: string
  /** Puts a stand-in in the agent's place. */
  cast(agent: AgentName, part: Part): void
  brain(agent: AgentName): BrainPort
  work(agent: AgentName, changes?: Partial<AgentBrainOptions>, signal?: AbortSignal): Promise<WorkEnding>
  judge(
    agent: AgentName,
    changes?: Partial<AgentBrainOptions>,
    signal?: AbortSignal,
    question?: Partial<JudgeQuestion>,
  ): Promise<JudgeEnding>
  /** What the stand-in was given: its arguments, its input, its environment and its folder. */
  given(): { args: string[]; stdin: string; env: Record<string, string>; cwd: string }
  remove(): void
}

/**
 * Nothing that a sandboxed agent writes in its own folders comes back but the tokens of its login: as one of them a stand-in notes what it was given, and so
 * every test tries the way back.
 */
export const logins: Record<AgentName, string> = {
  claude: '.claude/.credentials.json',
  codex: '.codex/auth.json',
  gemini: '.gemini/oauth_creds.json',
  opencode: '.local/share/opencode/auth.json',
}

/** A login as the agent keeps it, with its tokens. */
const loginWith: Record<AgentName, (token: string) => object> = {
  claude: (accessToken) => ({ claudeAiOauth: { accessToken, refreshToken: 'r', expiresAt: 1, scopes: ['user:inference'] } }),
  codex: (access_token) => ({ tokens: { id_token: 'i', access_token, refresh_token: 'r', account_id: 'a' }, last_refresh: '2026-01-01' }),
  gemini: (access_token) => ({ access_token, refresh_token: 'r', token_type: 'Bearer', expiry_date: 1 }),
  opencode: (access) => ({ anthropic: { type: 'oauth', access, refresh: 'r', expires: 1 } }),
}
const noToken = 'NOTHING-YET'

/** Shell words that note what `commands` print as a token of the login that they name. */
export function noting(agent: AgentName, login: string, commands: string): string {
  const [before = '', after = ''] = JSON.stringify(loginWith[agent](noToken)).split(noToken)
  return `printf '%s%s%s' '${before}' "$({ ${commands}; } | base64 | tr -d '\\n')" '${after}' > '${login}'`
}

/** What was noted in a login. */
export function notedIn(login: string): string {
  const token = /"(?:accessToken|access_token|access)":\s*"([^"]*)"/.exec(readFileSync(login, 'utf8'))?.[1] ?? noToken
  return token === noToken ? '' : Buffer.from(token, 'base64').toString('utf8')
}

const shown = (text: string) => JSON.stringify(text).slice(1, -1)

/** A project in which small scripts stand in for the agents and replay what those really printed. */
export function openStage(): Stage {
  const stage = realpathSync(mkdtempSync(join(tmpdir(), 'assay-agent-')))
  const [project, bin, home, notes] = ['project', 'bin', 'home', 'notes'].map((name) => join(stage, name)) as [
    string,
    string,
    string,
    string,
  ]
  const workspace = join(project, 'work')
  for (const folder of [project, workspace, bin, home, notes]) mkdirSync(folder)
  for (const [agent, file] of Object.entries(logins)) {
    mkdirSync(dirname(join(home, file)), { recursive: true })
    writeFileSync(join(home, file), JSON.stringify(loginWith[agent as AgentName](noToken)))
  }
  let last: AgentName = 'claude'
  const open = (agent: AgentName, changes: Partial<AgentBrainOptions>) =>
    openAgentBrain({
      brain: { kind: 'agent', agent },
      premises: { configDir: project, privateRoot: notes, killGraceMs: 200 },
      env: { PATH: `${bin}:/usr/bin:/bin`, HOME: home, ANTHROPIC_API_KEY: 'key-7', OTHER_SECRET: 'canary-7' },
      verdictSchema: verdictToolSchema,
      attemptTimeoutMs: 30_000,
      judgeTimeoutMs: 30_000,
      maxOutputBytes: 100_000,
      maxReplyBytes: 50_000,
      maxCaseBytes: 10_000,
      ...changes,
    })
  const live = new AbortController().signal
  return {
    project,
    workspace,
    bin,
    home,
    cast: (agent, part) => {
      last = agent
      writeFileSync(join(bin, agent), script(agent, join(home, logins[agent]), bin, part))
      chmodSync(join(bin, agent), 0o755)
    },
    brain: (agent) => open(agent, {}),
    work: (agent, changes = {}, signal = live) =>
      open(agent, changes).work(
        { task: specWith(), agent: 'dev', instructions: 'Be brief.', attempt: 2, prompt: 'Write core.txt.', workspace },
        signal,
      ),
    judge: (agent, changes = {}, signal = live, question = {}) =>
      open(agent, changes).judge({ ...judgeQuestion(), snapshot: () => Promise.resolve(workspace), ...question }, signal),
    given: () => {
      const [args = '', stdin = '', variables = '', cwd = ''] = notedIn(join(home, logins[last])).split('\u0001')
      const env = Object.fromEntries(
        variables.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      )
      return { args: args.split('\n').slice(0, -1), stdin, env, cwd: cwd.trim() }
    },
    remove: () => rmSync(stage, { recursive: true, force: true }),
  }
}

function script(
  agent: AgentName,
  login: string,
  beside: string,
  { prints, says = '', structured = '{}', instead = [], exit = 0, does = '', afterwards = '' }: Part,
): string {
  const source =
    prints === undefined ? '' : readFileSync(new URL(`../../adapters/brains/agent/fixtures/${prints}`, import.meta.url), 'utf8')
  const changed = instead.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${prints} has no ${from}`)
    return text.replaceAll(from, () => to)
  }, source)
  const text = changed
    .replaceAll('{"verdict":"STRUCTURED-GOES-HERE"}', () => structured)
    .replaceAll(shown('{"verdict":"STRUCTURED-GOES-HERE"}'), () => shown(structured))
    .replaceAll('TEXT-GOES-HERE', () => shown(says))
  const page = join(beside, 'page')
  writeFileSync(page, text)
  if (prints !== undefined && !existsSync(page)) throw new Error('the stand-in has nothing to say')
  return `#!/bin/sh
${noting(agent, login, `printf '%s\\n' "$@"; printf '\\001'; cat; printf '\\001'; env; printf '\\001'; pwd`)}
${does}
${prints === undefined ? '' : `cat '${page}'${prints.endsWith('.err') ? ' >&2' : ''}`}
${afterwards}
exit ${exit}
`
}
