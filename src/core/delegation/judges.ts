import type { TaskSpec } from '../../contract/task.ts'
import { route } from '../routing/route.ts'
import type { Rules } from '../task/draft.ts'
import { rulesFor } from '../task/terms.ts'

/** What can be said of the judges of a handed-down task before anybody has done it. */
export interface HandedJudges {
  /** Why nobody may judge it. */
  nobody?: string
  /** Why whoever handed it down does not judge it, and who is asked. */
  instead?: string
}

export function judgesOf(spec: TaskSpec, rules: Rules): HandedJudges {
  const { agents, brains, review } = rulesFor(spec, rules).policy
  const { assignee, delegatedBy } = spec
  const found = route({
    organisation: { agents, brains },
    assignee,
    ...(delegatedBy !== undefined && { delegatedBy }),
    participants: [],
    independence: review.independence,
  })
  if (found.kind === 'solo') return {}
  if (found.kind === 'none') return { nobody: found.refused.map(({ agent, why }) => `${agent} ${why}`).join(', ') }
  const unasked = found.refused.find(({ agent }) => agent === delegatedBy)
  if (!unasked) return {}
  const [first] = found.roster
  return {
    instead: `${unasked.agent}, who handed the task down, does not judge it: it ${unasked.why}; ${first?.judge ?? 'nobody'} is asked`,
  }
}
