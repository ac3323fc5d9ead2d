import { knownAgents } from '../../adapters/brains/agent/brain.ts'
import { agentsInReach } from '../path-program.ts'
import type { Config } from '../../contract/config/config.ts'
import type { DiagnoseRequest, Finding } from '../../doors/cli/doctor/finding.ts'
import { askProgram } from './machine.ts'

/** Every agent that Assay can start, with its version. One that is configured and cannot be run is a fault. */
export async function* agentFindings({ env, cwd, project }: DiagnoseRequest): AsyncIterable<Finding> {
  const config = project.ok ? project.value.project.config : undefined
  const used = new Set(Object.values(config?.agents ?? {}).map(({ brain }) => brain))
  const needed = new Set(
    Object.entries(config?.brains ?? {}).flatMap(([name, brain]) => (brain.kind === 'agent' && used.has(name) ? [brain.agent] : [])),
  )
  for (const [name, agent] of Object.entries(knownAgents)) {
    const id = `agent.${name}`
    const ran = await askProgram([agent.program, '--version'], env, cwd)
    const state = needed.has(name as keyof typeof knownAgents) ? 'bad' : 'none'
    if (ran.kind === 'not_started') {
      const detail = `${ran.message}${state === 'bad' ? '; the configuration needs it' : ''}`
      yield { id, state, detail, fix: agent.install }
    } else if (ran.kind === 'exited' && ran.code === 0) yield { id, state: 'ok', detail: ran.stdout.trim().split('\n')[0] ?? '' }
    else yield { id, state, detail: `it is there, but \`${agent.program} --version\` ended badly (${endingOf(ran)})`, fix: agent.install }
  }
  if (project.ok) yield* reachFindings(project.value.project.config, project.value.folder, env)
}

/** Agents that will not be asked, before a run finds out. */
function* reachFindings(config: Config, folder: string, env: NodeJS.ProcessEnv): Iterable<Finding> {
  for (const { agent, why, reviews } of agentsInReach(config, folder, env)) {
    const cut = why.lastIndexOf('; ')
    yield { id: `agent.${agent}`, state: reviews ? 'bad' : 'none', detail: why.slice(0, cut), fix: why.slice(cut + 2) }
  }
}

function endingOf(ran: Exclude<Awaited<ReturnType<typeof askProgram>>, { kind: 'not_started' }>): string {
  return ran.kind === 'exited' ? `exit code ${ran.code}` : ran.kind === 'signalled' ? ran.signal : ran.kind.replace('_', ' ')
}
