import { sha256Hex } from '../../../contract/canonical.ts'
import type { DeliverableRow } from '../../../engine/views/inbox.ts'
import type { TaskRow } from '../../../engine/views/tasks.ts'
import { refuse, type Refused } from '../answer/problem.ts'
import type { Who } from '../authority/who.ts'
import type { Door } from '../door.ts'

/** In whose name work is done: a worker's token in its own, whatever the body says; the owner in that of the agent it names. */
export function inName(who: Who, named: string | undefined): string | undefined {
  return who.scope === 'worker' ? who.name : named
}

/** Name of a request that came with an `Idempotency-Key`: kept in the journal, so that a server that was started anew knows it too. */
export function requestName(from: string, key: string): string {
  return `http-${sha256Hex(JSON.stringify([from, key])).slice(0, 32)}`
}

/** A task that whoever asks may see. What is another's does not exist for a worker. */
export async function ownTask({ engine }: Door, who: Who, task: string): Promise<{ row: TaskRow } | Refused> {
  const row = (await engine.parts.journal.viewRow('tasks', task)) as TaskRow | undefined
  if (!row || (who.scope === 'worker' && row.assignee !== who.name)) return refuse('not_found', `there is no task ${task}`)
  return { row }
}

/** A deliverable that whoever asks may see; undefined where there is none of that id at all. */
export async function ownDeliverable({ engine }: Door, who: Who, id: string): Promise<{ row: DeliverableRow | undefined } | Refused> {
  const row = (await engine.parts.journal.viewRow('deliverables', id)) as DeliverableRow | undefined
  if (row && who.scope === 'worker' && row.producer !== who.name) return refuse('not_found', `there is no deliverable ${id}`)
  return { row }
}
