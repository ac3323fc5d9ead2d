import type { Config } from '../../contract/config/config.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Engine } from '../engine.ts'
import { storedPlan } from '../mission/missions.ts'
import type { EngineParts } from '../parts.ts'
import type { MissionRow, TaskRow } from '../views/tasks.ts'

const atWork = new Set<TaskRow['status']>(['running', 'checking'])
const ended = new Set<TaskRow['status']>(['done', 'failed', 'skipped'])

/**
 * Where whoever hands something down without saying so does it from: what it is at work on, and what was handed down to it and has not ended,
 * begun or not. Of several the deepest: leaving out where it comes from makes nothing less deep.
 */
export async function openTaskOf(engine: Engine, by: string): Promise<TaskState | undefined> {
  let deepest: TaskState | undefined
  for (const { id, finished } of await engine.missions()) {
    if (finished !== undefined) continue
    for (const row of await engine.taskRows(`${id}/`)) {
      if (row.assignee !== by || ended.has(row.status)) continue
      const task = await engine.task(row.id)
      const counts = task !== undefined && (atWork.has(row.status) || task.spec.depth > 0)
      if (counts && (deepest === undefined || task.spec.depth > deepest.spec.depth)) deepest = task
    }
  }
  return deepest
}

/** Why so many tasks may not be handed down at once from there; undefined where they may. */
export function beyondBounds(bounds: Config['delegate'], wanted: number, above: TaskState | undefined): string | undefined {
  const { maxDelegations, maxDelegationDepth } = bounds
  if (wanted > maxDelegations) return `${wanted} tasks at once; at most ${maxDelegations} (delegate.maxDelegations)`
  if ((above?.spec.depth ?? 0) + 1 > maxDelegationDepth)
    return `tasks may be handed down ${maxDelegationDepth} deep (delegate.maxDelegationDepth)`
  return undefined
}

/** Why no more may be handed down from a task, counted over every call that was made from it; `runs` are those that calls began so far. */
export async function tooManyUnder(
  parts: EngineParts,
  runs: readonly MissionRow[],
  wanted: number,
  above: TaskState | undefined,
): Promise<string | undefined> {
  if (!above) return undefined
  const { maxDelegations } = parts.config.delegate
  const { id, mission = '' } = above.spec
  const own = (await parts.journal.viewRow('missions', mission)) as MissionRow | undefined
  let before = 0
  for (const run of runs) {
    // What began before the mission of the task did was not handed down from it.
    if (own && run.started < own.started) continue
    before += (await storedPlan(parts, run)).tasks.filter(({ origin }) => origin?.task === id).length
  }
  if (before + wanted <= maxDelegations) return undefined
  return `${before} tasks were handed down from ${id} already, and ${wanted} more would be; at most ${maxDelegations} (delegate.maxDelegations)`
}
