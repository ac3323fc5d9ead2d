import type { Agent } from '../../contract/agent.ts'
import type { TaskSpec } from '../../contract/task.ts'
import type { Rules } from './draft.ts'

/** Who judges with the brain that `delegate.judge` names where whoever handed the task down is no agent. */
const delegatesJudge = 'delegate judge'

/**
 * The rules as they are for one task: its terms over the policy's `review`. The digest stays that of the policy, which the terms come from.
 * The manager who handed a task down judges it with the brain that `delegate.judge` names.
 */
export function rulesFor({ terms, delegatedBy }: Pick<TaskSpec, 'terms' | 'delegatedBy'>, rules: Rules): Rules {
  if (terms === undefined) return rules
  const { judge, ...review } = terms
  const { policy } = rules
  const agents = judge === undefined ? policy.agents : withJudge(judge, delegatedBy, policy.agents)
  return { ...rules, policy: { ...policy, agents, review: { ...policy.review, ...definedOnly(review) } } }
}

/** First in the order of reviewers either way. */
function withJudge(brain: string, delegatedBy: string | undefined, agents: Record<string, Agent>): Record<string, Agent> {
  const manager = delegatedBy === undefined ? undefined : agents[delegatedBy]
  if (delegatedBy !== undefined && manager) return { ...agents, [delegatedBy]: { ...manager, brain } }
  return { [delegatesJudge]: { role: 'reviewer', brain }, ...agents }
}

function definedOnly<T extends object>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as never
}
