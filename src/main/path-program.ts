import { realpathSync } from 'node:fs'
import { knownAgents } from '../adapters/brains/agent/brain.ts'
import { withinReach } from '../adapters/brains/agent/reach/reach.ts'
import { agentEnv } from '../adapters/brains/agent/run.ts'
import { buildEnv } from '../adapters/process/environment.ts'
import { findProgram } from '../adapters/process/program.ts'
import type { Brain } from '../contract/agent.ts'
import type { Config } from '../contract/config/config.ts'
import { isReviewerRole } from '../core/routing/organisation.ts'

/** What lies here is changed by whoever runs the machine, with each update: it is known by its path alone. */
const systemFolders = ['/bin/', '/sbin/', '/usr/', '/nix/store/']

/** The name of a command's program where it has no path: the file that it means is found through PATH. */
export function bareName(brain: Brain | undefined): string | undefined {
  const [name] = brain?.kind === 'command' ? brain.argv : []
  return name === undefined || name.includes('/') ? undefined : name
}

/** The file that a bare name means to judges that this process starts; undefined where there is none. */
export function foundInPath(name: string, path = buildEnv().PATH ?? ''): string | undefined {
  const found = findProgram(name, '/', path)
  return 'file' in found ? found.file : undefined
}

/** Whether a program and what its links lead to belong to the system. */
export function isOfSystem(file: string): boolean {
  const isThere = (path: string) => systemFolders.some((folder) => path.startsWith(folder))
  return isThere(file) && isThere(realpathSync(file))
}

/** A known agent that is not asked as a judge, because workers can write what it is made of. */
export interface AgentInReach {
  agent: keyof typeof knownAgents
  why: string
  /** It is there to judge, not only where nobody else can. */
  reviews: boolean
}

/** Those of the configuration, found before anything starts. Workspaces outside of the project are looked at when the agent is to judge. */
export function agentsInReach(
  { agents, brains, delegate }: Pick<Config, 'agents' | 'brains' | 'delegate'>,
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): AgentInReach[] {
  const used = new Set([...Object.values(agents).map(({ brain }) => brain), ...(delegate.judge === undefined ? [] : [delegate.judge])])
  return [...used].flatMap((name) => {
    const brain = brains[name]
    if (brain?.kind !== 'agent') return []
    const agent = knownAgents[brain.agent]
    const why = withinReach({ agent, env: agentEnv({ env, named: brain.env ?? [] }, agent), grounds: [folder] })
    const isReviewer = Object.values(agents).some((one) => one.brain === name && (isReviewerRole(one.role) || one.judges === true))
    return why === undefined ? [] : [{ agent: brain.agent, why, reviews: isReviewer || delegate.judge === name }]
  })
}
