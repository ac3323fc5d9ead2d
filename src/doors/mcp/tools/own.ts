import type { Engine } from '../../../engine/engine.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import type { Session } from '../session.ts'
import { refuse } from '../tool.ts'

/** A task of the agent that asks. What is another's does not exist for it. */
export async function ownTask(engine: Engine, { agent }: Session, task: string): Promise<TaskRow | undefined> {
  const row = (await engine.parts.journal.viewRow('tasks', task)) as TaskRow | undefined
  return row?.assignee === agent ? row : undefined
}

export const noTask = (task: string) => refuse('not_found', `there is no task ${task} of yours; list_tasks shows those that are`)
