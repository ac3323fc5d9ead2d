import type { Engine } from '../../../engine/engine.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { paintState } from '../render/task.ts'
import { wrap } from '../render/table.ts'
import { withTask } from '../commands/task.ts'
import { deliverableStanding } from '../../../engine/deliverables/look.ts'
import { rejectedElsewhere } from '../../../engine/deliverables/turned-down.ts'
import { isOwed } from '../../../engine/mission/owed.ts'
import { policyWords } from '../policy/words.ts'
import { explainDeliverable } from './deliverable.ts'
import { type Explanation, blockersOf, explainTask, type TaskKnown } from './explain.ts'

/** `assay why <task|deliverable>`: the whole chain in ten lines, and the next command. */
export async function whyCommand(app: App, output: Output, id: string, flags: ConfigFlags): Promise<ExitCode> {
  return withTask(app, output, id, flags, async (engine, row, deliverable) => {
    // The whole name of a deliverable says more than the end of a task's.
    const named = id !== row.id && (await engine.deliverables()).some((one) => one.deliverable === id) ? id : deliverable
    if (named !== undefined) return whyDeliverable(app, output, engine, named)
    const known = await knownOf(app, engine, row)
    if (!known) return 2
    const explanation = explainTask(known)
    if (output.json) output.jsonLine({ kind: 'why', ...explanation })
    else for (const line of lines(output, paintState(output, row), explanation)) output.data(line)
    return 0
  })
}

async function whyDeliverable(app: App, output: Output, engine: Engine, deliverable: string): Promise<ExitCode> {
  const standing = await deliverableStanding(engine, deliverable, (source) => app.digestNow(source, engine))
  if (!standing) return 2
  const explanation = explainDeliverable(standing, await rejectedElsewhere(engine, deliverable))
  if (output.json) output.jsonLine({ kind: 'why', ...explanation })
  else for (const line of lines(output, output.paint('cyan', explanation.state), explanation)) output.data(line)
  return 0
}

async function knownOf(app: App, engine: Engine, row: TaskRow): Promise<TaskKnown | undefined> {
  const [state, detail, rows] = [await engine.task(row.id), await engine.detail(row.id), await engine.taskRows()]
  if (!state || !detail) return undefined
  const wanted = new Set(state.spec.gates ?? [])
  const gates = wanted.size === 0 ? [] : (await engine.gates(row.mission)).filter(({ name }) => wanted.has(name))
  const byId = new Map(rows.map((one) => [one.id, one]))
  const dependencies = row.dependsOn.flatMap((id) => byId.get(id) ?? [])
  const policy = await engine.policyStanding(state.policy)
  const deliverable = state.spec.deliverable && (await deliverableOf(app, engine, state.spec.deliverable.id ?? row.id, row.id))
  return {
    ...{ row, detail, gates, dependencies, blockers: blockersOf(row, byId), busy: await engine.isBusy() },
    ...(!policy.accepted && { unacceptedPolicy: policyWords(policy) }),
    ...(deliverable && { deliverable }),
    ...(state.spec.deliverable && (await isOwed(engine.parts.journal, row.id)) && { owed: true as const }),
  }
}

/** How the deliverable of a task stands; undefined where it is not known yet, or is that of somebody else under the same id. */
async function deliverableOf(app: App, engine: Engine, id: string, task: string): Promise<TaskKnown['deliverable']> {
  const standing = await deliverableStanding(engine, id, (source) => app.digestNow(source, engine))
  if (!standing || standing.state.latest.task !== task) return undefined
  const { state, because } = explainDeliverable(standing)
  return { id, state, because }
}

function lines(output: Output, state: string, { title, because, chain, next }: Explanation): string[] {
  return [
    `${output.paint('bold', oneLine(title))}  ${state}`,
    wrap(`because ${oneLine(because, 400)}`, output.columns, 2),
    ...chain.map((line) => wrap(`  ${oneLine(line, 400)}`, output.columns, 4)),
    `Next: ${next}`,
  ]
}
