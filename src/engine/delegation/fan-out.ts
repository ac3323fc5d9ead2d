import { planProposals } from '../../core/delegation/plan.ts'
import { extendMission } from '../mission/extend.ts'
import { type Runner, settleRefused } from '../work/bench.ts'

/**
 * What an accepted case proposed becomes tasks of the same mission. Safe to repeat: the tasks have fixed ids, and the mission is extended once
 * for each accepted content.
 */
export const fanOut: Runner = async (bench, lease) => {
  const { parts, tasks } = bench
  const { task } = lease.payload as { task: string }
  const { state } = await tasks.load(task)
  const content = state?.done?.content
  if (!state || !content || state.done?.flag === 'below-threshold' || state.fannedOut.includes(content) || !state.spec.mission)
    return void (await parts.journal.complete(lease))
  const plan = planProposals(state, parts.config)
  if (plan.tasks.length > 0) {
    const key = `${task}:${content}`
    const added = await extendMission(parts, { mission: state.spec.mission, key, tasks: plan.tasks, by: state.spec.assignee })
    if (!added.ok) return void (await parts.journal.release(lease, 1_000))
  }
  const delegated = plan.tasks.map(({ id, title, assignee }) => ({ task: id, title, to: assignee }))
  const command = { type: 'record_delegations', content, delegated, refused: plan.refused } as const
  await settleRefused(bench, lease, await tasks.handle(task, command, { actor: 'runtime', settles: lease }))
}
