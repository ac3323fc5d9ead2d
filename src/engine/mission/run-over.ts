import { askAboutIdle, untoldTeller } from '../audit/queued.ts'
import type { EngineParts } from '../parts.ts'
import type { TaskStore } from '../task/task-store.ts'
import { finishMission, missionWork } from './finish.ts'
import type { Watch } from './watch.ts'

interface Run {
  missions: string[]
  watch: Watch
  tasks: TaskStore
  /** Looks at the deadlines of missions, though they are finished. */
  look: (missions: string[]) => Promise<unknown>
}

/**
 * Whether nothing is left that a run could bring further here; then its missions are finished, without waiting for their notifications. A task that
 * waits for work that does not exist would wait for ever: that is said.
 */
export function runOver(parts: EngineParts, { missions, watch, tasks, look }: Run): () => Promise<boolean> {
  const tellUntold = untoldTeller(parts, missions)
  // An ending that other writers were in the way of is shown in a moment: a mission is not finished without it.
  const isOwed = async () => (await parts.journal.workCount(missions, ['hand_over'])).later > 0
  const isOver = async () => {
    await watch.catchUp()
    const { due, leased, later } = await parts.journal.workCount(missions, missionWork)
    if (!watch.active) return due + leased === 0 && !(await isOwed()) && !(await tellUntold())
    if (due + leased + later > 0) return false
    await watch.catchUp()
    if (watch.active) await askAboutIdle(parts, tasks, missions)
    return false
  }
  return async () => {
    if (!(await isOver())) return false
    const seen = { rows: [...watch.rows.values()], position: watch.position }
    for (const mission of missions) await finishMission(parts, mission, seen)
    await look(missions)
    return true
  }
}
