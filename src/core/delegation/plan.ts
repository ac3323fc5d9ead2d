import { expandChecks } from '../../contract/check.ts'
import type { Config } from '../../contract/config/config.ts'
import type { Result } from '../../contract/errors.ts'
import type { DoneFlag, TaskSpec } from '../../contract/task.ts'
import { criteriaFindings, criteriaOf } from '../mission/criteria.ts'
import { slugOf } from '../mission/ids.ts'
import type { TaskState } from '../task/state.ts'

/** A task that somebody hands down: by a call, or as a proposal in a case. */
export interface Handed {
  title: string
  description: string
  to?: string | undefined
  criteria?: readonly string[] | undefined
}

/** Whence it comes: the task whose worker hands it down, if there is one. */
export interface Whence {
  mission: string
  /** Who hands it down; first in the order of reviewers. */
  by: string
  parent?: TaskState | undefined
  /** Of a proposal: the work that proposed it was accepted with this flag. */
  flag?: DoneFlag | undefined
}

export interface HandedPlan {
  tasks: TaskSpec[]
  refused: { title: string; to: string; why: string }[]
}

/** Whether a task was handed down by a call, whose caller was answered: not one that the same mission's work proposed. */
export function isHandedByCall({ delegatedBy, mission, origin }: Pick<TaskSpec, 'delegatedBy' | 'mission' | 'origin'>): boolean {
  return delegatedBy !== undefined && (origin === undefined || !origin.task.startsWith(`${mission}/`))
}

/**
 * Proposals of an accepted case as tasks of the same mission, bounded in number and depth. What cannot be is refused by name, never dropped.
 * The same proposal of the same task always has the same id.
 */
export function planProposals(parent: TaskState, config: Config): HandedPlan {
  const { maxDelegations, maxDelegationDepth } = config.delegate
  const proposals = parent.current?.case?.delegations ?? []
  const flag = parent.done?.flag
  // What a later content proposes is another task, though it may have the same title.
  const again = parent.fannedOut.length > 0 ? `-${parent.fannedOut.length + 1}` : ''
  const whence: Whence = { mission: parent.spec.mission ?? '', by: parent.spec.assignee, parent, flag: flag === 'clean' ? undefined : flag }
  const plan: HandedPlan = { tasks: [], refused: [] }
  for (const [index, { to, title, description, criteria }] of proposals.entries()) {
    const refuse = (why: string) => plan.refused.push({ title, to, why })
    if (parent.spec.depth + 1 > maxDelegationDepth)
      refuse(`tasks may be handed down ${maxDelegationDepth} deep (delegate.maxDelegationDepth)`)
    else if (index >= maxDelegations) refuse(`a case may propose ${maxDelegations} (delegate.maxDelegations)`)
    else {
      const made = handedTask({ title, description, to, criteria }, whence, config)
      if (!made.ok) refuse(made.error)
      else if (plan.tasks.some(({ id }) => id === `${made.value.id}${again}`)) refuse('it is proposed twice')
      else plan.tasks.push({ ...made.value, id: `${made.value.id}${again}` })
    }
  }
  return plan
}

/** One handed-down task, or why it cannot be. */
export function handedTask(handed: Handed, { mission, by, parent, flag }: Whence, config: Config): Result<TaskSpec, string> {
  const { delegate, review } = config
  const to = handed.to ?? delegate.agent
  if (to === undefined) return { ok: false, error: 'nobody is named in `to`, and delegate.agent is not set' }
  if (!Object.hasOwn(config.agents, to)) return { ok: false, error: `${to} is no agent of this organisation` }
  const criteria = handed.criteria ?? []
  const [doubled] = criteriaFindings(criteria, [])
  if (doubled) return { ok: false, error: doubled.message }
  const from = parent ? parent.spec.id.slice(parent.spec.id.indexOf('/') + 1) : ''
  const judged = { panel: delegate.panel, ...(delegate.judge !== undefined && { judge: delegate.judge }) }
  return {
    ok: true,
    value: {
      id: `${mission}/${from === '' ? '' : `${from}.`}${slugOf(handed.title)}`,
      mission,
      title: handed.title,
      description: handed.description,
      assignee: to,
      criteria: criteriaOf(criteria),
      checks: expandChecks(config.checks),
      dimensions: review.dimensions,
      bar: review.threshold,
      dependsOn: [],
      priority: parent?.spec.priority ?? 1,
      workspace: { kind: 'scratch' },
      expectsDiff: true,
      delegatedBy: by,
      depth: (parent?.spec.depth ?? 0) + 1,
      terms: judged,
      ...(parent && { origin: { task: parent.spec.id, ...(flag !== undefined && { flag }) } }),
    },
  }
}
