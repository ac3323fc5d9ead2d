import type { Policy } from '../../contract/policy.ts'

/** Whether Assay does not start whoever does a task: an agent with an `outside` brain, or somebody whom the configuration does not know. */
export function isOutside({ agents, brains }: Policy, assignee: string): boolean {
  const agent = agents[assignee]
  return agent === undefined || brains[agent.brain]?.kind === 'outside'
}
