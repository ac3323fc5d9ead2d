import type { Result } from '../../contract/errors.ts'
import type { Policy } from '../../contract/policy.ts'
import { nameKey } from '../../core/routing/look-alike.ts'
import { isManager, isReviewerRole } from '../../core/routing/organisation.ts'
import type { TaskRow } from '../views/tasks.ts'

/** Whether Assay does not start whoever does a task: an agent with an `outside` brain, or somebody whom the configuration does not know. */
export function isOutside({ agents, brains }: Policy, assignee: string): boolean {
  const agent = Object.hasOwn(agents, assignee) ? agents[assignee] : undefined
  return agent === undefined || brains[agent.brain]?.kind === 'outside'
}

/** Whether an agent comes by itself to judge; a manager does for what it handed down. */
export function judgesOutside({ agents, brains }: Policy, name: string): boolean {
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined
  if (!agent || brains[agent.brain]?.kind !== 'outside') return false
  return isReviewerRole(agent.role) || agent.judges === true || isManager(name, { agents })
}

/** Somebody outside for whom a task waits. */
export interface Awaited {
  task: string
  agent: string
  for: 'work' | 'verdict'
}

/** Who has to come before these tasks go on. */
export function awaitedOutside(policy: Policy, rows: readonly TaskRow[]): Awaited[] {
  return rows.flatMap(({ id, status, assignee, outside, seats = [] }): Awaited[] => {
    if (status === 'in_review')
      return seats.filter(({ state }) => state === 'awaited').map(({ judge }) => ({ task: id, agent: judge, for: 'verdict' }))
    // What is brought to be reviewed is nobody's to take.
    const works = (status === 'todo' || status === 'running') && outside !== true && isOutside(policy, assignee)
    return works ? [{ task: id, agent: assignee, for: 'work' }] : []
  })
}

/** Names that the journal has for others than agents. */
const reserved = ['owner', 'runtime']

/** Who comes to a door in this role: the agent that is named, or the only one there is. */
export function comerNamed(policy: Policy, role: 'worker' | 'reviewer', named: string | undefined): Result<string, string> {
  const all = Object.keys(policy.agents)
  const fit = all.filter((name) =>
    role === 'reviewer' ? judgesOutside(policy, name) : isOutside(policy, name) && !isReviewer(policy, name),
  )
  if (named === undefined) {
    const [only] = fit
    if (only !== undefined && fit.length === 1) return { ok: true, value: only }
    const there = fit.length === 0 ? `no agent ${role === 'worker' ? 'works' : 'judges'} outside` : `there are ${fit.join(', ')}`
    return { ok: false, error: `name the agent with --agent: ${there}` }
  }
  if (reserved.includes(nameKey(named)) || nameKey(named) === '') return { ok: false, error: `${named} is no name for an agent` }
  if (role === 'reviewer' && !judgesOutside(policy, named))
    return {
      ok: false,
      error: `${named} is no reviewer whose brain is outside; ${fit.length === 0 ? 'nobody is' : `there are ${fit.join(', ')}`}`,
    }
  return { ok: true, value: named }
}

const isReviewer = ({ agents }: Policy, name: string): boolean => isReviewerRole(agents[name]?.role ?? '')
