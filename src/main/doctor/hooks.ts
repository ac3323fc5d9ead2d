import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildEnv } from '../../adapters/process/environment.ts'
import type { ProcessEnding } from '../../adapters/process/process.ts'
import { runProcess } from '../../adapters/process/run.ts'
import type { DiagnoseRequest, Finding } from '../../doors/cli/doctor/finding.ts'
import { dialects, homeFolder } from '../../doors/hook/dialects.ts'
import { hookCommand, isOwnCommand, ofProject, quoted } from '../../doors/hook/own-command.ts'
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
  for (const { agent, file } of settingsFiles(folder, homeFolder(env))) {
    const id = `hook.${agent}`
    const commands = readHooks(file)
    if (commands === undefined) yield { id, state: 'bad', detail: `${file} is no JSON`, fix: `mend ${file}` }
    for (const command of commands ?? []) {
      found += 1
      const problem = await hookProblem(agent, command, folder, env)
      if (problem === undefined) yield { id, state: 'ok', detail: `fires (${file})` }
      else
        yield {
          id,
          state: 'bad',
          detail: `is in ${file} but does not fire: ${problem}`,
          fix: remedy({ agent, command, file, folder, cwd, home: homeFolder(env) }),
        }
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

/** What keeps a hook from firing; undefined where it fires. */
async function hookProblem(agent: string, command: string, folder: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (compound.test(command) && !isOwnCommand(command, agent)) return 'it is more than one plain command, and was not run'
  const ran = await runProcess({
    argv: ['/bin/sh', '-c', command],
    cwd: folder,
    // The path as the agent has it: it may find Assay among a project’s packages. npx asks nobody for a package that is not there.
    env: { ...buildEnv({ from: env, extra: { [rehearsalVariable]: '1', npm_config_offline: 'true' } }), PATH: env.PATH ?? '' },
    stdin: JSON.stringify(samples(agent, folder)),
    timeoutMs: hookMs,
    maxOutputBytes: 100_000,
    killGraceMs: 1_000,
  })
  const isMissing = ran.kind === 'exited' && ran.code !== 0 && /^npm (error|ERR!)/m.test(ran.stderr)
  return isMissing && command === hookCommand(ofProject, agent) ? `npx finds no assay in the packages of ${folder}` : problemOf(ran)
}

interface Dead {
  agent: string
  command: string
  file: string
  folder: string
  cwd: string
  home: string
}

/** The command that mends a hook: installing it anew rewrites an entry of its own, where it would write it, and nobody else's. */
function remedy({ agent, command, file, folder, cwd, home }: Dead): string {
  const install = `${folder === cwd ? '' : `cd ${quoted(folder)} && `}assay hook install --agent ${agent}`
  const isOwn = isOwnCommand(command, agent) && dialects[agent]?.settings(folder, home) === file
  return isOwn ? install : `take the entry out of ${file}, then: ${install}`
}

/** A hook has fired when it ended well and printed one JSON object, which is all that an agent reads. */
function problemOf(ran: ProcessEnding): string | undefined {
  if (ran.kind === 'not_started') return ran.message
  if (ran.kind !== 'exited') return ran.kind === 'timed_out' ? `no answer within ${hookMs / 1000} s` : `it was ended (${ran.kind})`
  if (ran.code !== 0) return `exit code ${ran.code}: ${firstLine(ran.stderr)}`
  try {
    const answer: unknown = JSON.parse(ran.stdout)
    return typeof answer === 'object' && answer !== null ? undefined : 'its answer is no JSON object'
  } catch (error) {
    if (error instanceof SyntaxError) return 'its answer is no JSON'
    throw error
  }
}

/** What a program said first, without the prefix of npm's lines. */
function firstLine(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/^npm (error|ERR!)( code \S+)?/, '').trim())
  return lines.find((line) => line !== '')?.slice(0, 200) ?? 'nothing was said'
}
