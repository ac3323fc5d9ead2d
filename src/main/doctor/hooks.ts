import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { buildEnv } from '../../adapters/process/environment.ts'
import type { ProcessEnding } from '../../adapters/process/process.ts'
import { runProcess } from '../../adapters/process/run.ts'
import type { DiagnoseRequest, Finding } from '../../doors/cli/doctor/finding.ts'
import { samples } from './hook-samples.ts'

/** Longest that a hook may take to answer a rehearsal, in which it reviews nothing. */
const hookMs = 60_000

/** Set while a hook is tried: it answers as always and reviews nothing. */
const rehearsalVariable = 'ASSAY_HOOK_REHEARSAL'

/** Settings in which agents keep their hooks: in the project, and below the home folder. */
const settings: Record<string, { project: string[]; home: string[] }> = {
  claude: { project: ['.claude/settings.json', '.claude/settings.local.json'], home: ['.claude/settings.json'] },
  codex: { project: ['.codex/hooks.json'], home: ['.codex/hooks.json'] },
  gemini: { project: ['.gemini/settings.json'], home: ['.gemini/settings.json'] },
  copilot: { project: ['.github/hooks/'], home: [] },
  cursor: { project: ['.cursor/hooks.json'], home: ['.cursor/hooks.json'] },
}

/** Every entry of ours in an agent's settings, and what running it as that agent would comes to. */
export async function* hookFindings({ cwd, env, project }: DiagnoseRequest): AsyncIterable<Finding> {
  const folder = project.ok ? project.value.folder : cwd
  let found = 0
  for (const { agent, file } of settingsFiles(folder, env.HOME ?? homedir())) {
    const id = `hook.${agent}`
    const commands = readHooks(file)
    if (commands === undefined) yield { id, state: 'bad', detail: `${file} is no JSON`, fix: `mend ${file}` }
    for (const command of commands ?? []) {
      found += 1
      yield { id, ...(await tryHook(agent, command, folder, env, file)) }
    }
  }
  if (found === 0) yield { id: 'hooks', state: 'none', detail: 'no agent’s settings hold one of ours', fix: 'assay init --hook <agent>' }
}

function settingsFiles(folder: string, home: string): { agent: string; file: string }[] {
  return Object.entries(settings).flatMap(([agent, places]) => {
    const paths = [...places.project.map((path) => join(folder, path)), ...places.home.map((path) => join(home, path))]
    return [...new Set(paths.flatMap(filesAt))].map((file) => ({ agent, file }))
  })
}

function filesAt(path: string): string[] {
  if (!existsSync(path)) return []
  if (!path.endsWith('/')) return [path]
  return readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(path, name))
}

/** Commands of ours in a settings file; undefined where it cannot be read. Nothing of it is quoted: settings hold keys. */
function readHooks(file: string): string[] | undefined {
  try {
    return [...new Set(commandsIn(JSON.parse(readFileSync(file, 'utf8'))))]
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function commandsIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string') return (key === 'command' || key === 'bash') && /\bassay\b.*\bhook\b/.test(value) ? [value] : []
  if (Array.isArray(value)) return value.flatMap((one) => commandsIn(one))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => commandsIn(one, name))
}

/** What a shell would take for more than one plain command: settings come with a repository, and looking at one must run nothing of its own. */
const compound = /[;|&<>`\r\n]|\$\(/

async function tryHook(agent: string, command: string, folder: string, env: NodeJS.ProcessEnv, file: string): Promise<Omit<Finding, 'id'>> {
  const fix = `assay init --hook ${agent}`
  if (compound.test(command))
    return { state: 'bad', detail: `is in ${file} but does not fire: it is more than one plain command, and was not run`, fix }
  const ran = await runProcess({
    argv: ['/bin/sh', '-c', command],
    cwd: folder,
    // The path as the agent has it: it may find Assay among a project’s packages.
    env: { ...buildEnv({ from: env, extra: { [rehearsalVariable]: '1' } }), PATH: env.PATH ?? '' },
    stdin: JSON.stringify(samples(agent, folder)),
    timeoutMs: hookMs,
    maxOutputBytes: 100_000,
    killGraceMs: 1_000,
  })
  const problem = problemOf(ran)
  if (problem === undefined) return { state: 'ok', detail: `fires (${file})` }
  return { state: 'bad', detail: `is in ${file} but does not fire: ${problem}`, fix }
}

/** A hook has fired when it ended well and printed one JSON object, which is all that an agent reads. */
function problemOf(ran: ProcessEnding): string | undefined {
  if (ran.kind === 'not_started') return ran.message
  if (ran.kind !== 'exited') return ran.kind === 'timed_out' ? `no answer within ${hookMs / 1000} s` : `it was ended (${ran.kind})`
  if (ran.code !== 0) return `exit code ${ran.code}: ${ran.stderr.trim().slice(-300)}`
  try {
    const answer: unknown = JSON.parse(ran.stdout)
    return typeof answer === 'object' && answer !== null ? undefined : 'its answer is no JSON object'
  } catch (error) {
    if (error instanceof SyntaxError) return 'its answer is no JSON'
    throw error
  }
}
