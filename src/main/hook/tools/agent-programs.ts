import { knownAgents } from '../../../adapters/brains/agent/brain.ts'
import type { Config } from '../../../contract/config/config.ts'
import { visible } from '../../../contract/source/shown.ts'
import { agentsInReach, foundInPath } from '../../path-program.ts'

const nowhere = '(nowhere)'

/**
 * Where PATH leads to the programs of agents that the configuration names, by their names. What lies there may be another version tomorrow, for agents
 * update themselves; that it lies there is noted.
 */
export function agentPrograms({ brains }: Pick<Config, 'brains'>): Record<string, string> {
  const names = Object.values(brains).flatMap((brain) => (brain.kind === 'agent' ? [knownAgents[brain.agent].program] : []))
  return Object.fromEntries(names.map((name) => [name, foundInPath(name) ?? nowhere]))
}

/** Says which agent of those that review cannot, because the session can write what it is made of; undefined where none is. */
export function ownedAgent(config: Config, folder: string): string | undefined {
  return agentsInReach(config, folder).find(({ reviews }) => reviews)?.why
}

/** Says which agent's program is found in another place than it was; undefined where none is, or nobody noted it. */
export function lostAgent(config: Pick<Config, 'brains'>, noted: Readonly<Record<string, string>> | undefined): string | undefined {
  const moved = Object.entries(agentPrograms(config)).find(([name, file]) => noted?.[name] !== undefined && noted[name] !== file)
  if (!moved) return undefined
  const [name, file] = moved
  return `${name} is found elsewhere through PATH than when the session began (${visible(file)} instead of ${visible(noted?.[name] ?? nowhere)}): put it back, or begin a new session`
}
