import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildEnv, isNeverPassed } from '../../process/environment.ts'
import type { ProcessEnding } from '../../process/process.ts'
import { runProcess } from '../../process/run.ts'
import { type Premises, sandboxOn } from '../premises.ts'
import type { Invocation, KnownAgent } from './known-agent.ts'
import { withOwnThings } from './own-things.ts'

/** What is the same for every run of an agent. */
export interface AgentSettings {
  premises: Premises
  /** Where variables come from, and the names of those passed on besides the agent's own. */
  env: Readonly<Record<string, string | undefined>>
  named: readonly string[]
  maxOutputBytes: number
  /** Told what a user has to know of. */
  notice: ((message: string) => void) | undefined
}

export interface AgentRun {
  /** Private folder of this run. */
  folder: string
  cwd: string
  files: { writable: string[]; readOnly?: string[] }
  stdin: string
  timeoutMs: number
  signal: AbortSignal
  /** Judges see nothing that instructs a worker. */
  as: 'worker' | 'judge'
  variables: Record<string, string>
}

/** The variables that an agent gets, besides those of a single run. */
export function agentEnv({ env, named }: Pick<AgentSettings, 'env' | 'named'>, agent: KnownAgent, extra: Record<string, string> = {}) {
  return buildEnv({ pass: [...agent.env, ...named], extra, from: env })
}

/** Runs an agent once: its prompt on standard input, its login and settings where it is used to have them, everything else as any worker or judge has it. */
export async function runAgent(settings: AgentSettings, agent: KnownAgent, invocation: Invocation, run: AgentRun): Promise<ProcessEnding> {
  const { premises, named, maxOutputBytes, notice } = settings
  const refused = named.filter(isNeverPassed)
  if (refused.length > 0)
    return { kind: 'not_started', code: 'EINVAL', message: `${refused.join(', ')} is never passed to a process; remove it from \`env\`` }
  const temporary = join(run.folder, 'tmp')
  await mkdir(temporary)
  const env = agentEnv(settings, agent, { NO_COLOR: '1', TMPDIR: temporary, ...run.variables, ...invocation.env })
  const own = { agent, env, as: run.as, privateRoot: premises.privateRoot, notice }
  return await withOwnThings(own, (files) =>
    runProcess({
      argv: [agent.program, ...invocation.args],
      cwd: run.cwd,
      env,
      stdin: run.stdin,
      timeoutMs: run.timeoutMs,
      maxOutputBytes,
      killGraceMs: premises.killGraceMs ?? 5_000,
      signal: run.signal,
      sandbox: { ...sandboxOn(premises, run.folder, run.files), ...files },
    }),
  )
}
