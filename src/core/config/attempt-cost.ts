import type { Brain } from '../../contract/agent.ts'
import type { Config } from '../../contract/config/config.ts'
import type { Finding } from '../../contract/source/problem.ts'
import { named } from '../../contract/source/shown.ts'
import { isReviewerRole } from '../routing/organisation.ts'

/** Known agents that do not say what they have cost. */
export const agentsWithoutCost: readonly Extract<Brain, { kind: 'agent' }>['agent'][] = ['codex', 'gemini']

/** A bound on a worker's money that cannot be kept for its brain: whoever set it should know before anything is spent. */
export function attemptCostNotices({ limits, agents, brains }: Config): Finding[] {
  if (limits.attemptCost === undefined) return []
  const working = new Set(Object.values(agents).flatMap(({ role, brain }) => (isReviewerRole(role) ? [] : [brain])))
  return Object.entries(brains).flatMap(([name, brain]): Finding[] => {
    const why = working.has(name) ? unbounded(brain) : undefined
    if (why === undefined) return []
    const message = `\`limits.attemptCost\` does not bound the brain ${named(name)}: ${why}`
    return [{ path: ['brains', name], at: 'key', message }]
  })
}

/** Why nobody knows what a worker's turn has cost; undefined where it is known, or is nothing. */
function unbounded(brain: Brain): string | undefined {
  switch (brain.kind) {
    case 'agent':
      return agentsWithoutCost.includes(brain.agent) ? `${brain.agent} does not say what it costs, and only time limits hold it` : undefined
    case 'model':
      return brain.prices === undefined ? 'it has no `prices` to count with' : undefined
    case 'command':
      return 'a command does not say what it costs, and only time limits hold it'
    case 'outside':
      return 'nobody knows what a worker outside costs'
    case 'scripted':
      return undefined
  }
}
