import { isDeepStrictEqual } from 'node:util'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import { type Journal, JournalFault } from '../../ports/journal.ts'
import { taskStream } from '../streams.ts'
import { type TaskRow, tasksView } from '../views/tasks.ts'

/** How often a task that others are moving meanwhile is looked at again. */
const maxLooks = 5
/** Most rows of finished tasks in a list that are each held against their events. */
export const maxProvenRows = 200

/** The row of a task as its events come to; one that was changed by hand is refused, whatever it says. */
export async function provenRow(journal: Journal, id: string): Promise<TaskRow> {
  const stream = taskStream(id)
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const events = await journal.readStream(stream)
    const row = await journal.viewRow(tasksView.name, id)
    if ((await journal.head(stream)) !== events.length) continue
    const folded = foldOf(events, id)
    if (folded !== undefined && isDeepStrictEqual(row, JSON.parse(JSON.stringify(folded)))) return folded
    throw new JournalFault(
      'corrupt',
      `The stored row of the task ${id} was changed by hand or damaged: it is not what its events come to. \`assay audit verify\` shows all that is; \`assay doctor --rebuild\` puts rows right`,
    )
  }
  throw new JournalFault('busy', `The task ${id} is being moved faster than it can be looked at. Try again`)
}

/** The same without looking at the row that is kept; undefined where there is no such task. */
export async function recordedRow(journal: Journal, id: string): Promise<TaskRow | undefined> {
  return foldOf(await journal.readStream(taskStream(id)), id)
}

function foldOf(events: readonly StoredEvent[], id: string): TaskRow | undefined {
  return events.reduce<TaskRow | undefined>((row, event) => tasksView.fold(row, event, id), undefined)
}

/**
 * Rows of one mission: each is proved, whatever it says of itself, as long as they are few; one that is being moved is taken as its events say.
 * Says whether they were.
 */
export async function provenMission(journal: Journal, rows: readonly TaskRow[]): Promise<{ rows: TaskRow[]; proven: boolean }> {
  if (rows.length > maxProvenRows) return { rows: [...rows], proven: false }
  const proved: TaskRow[] = []
  for (const { id } of rows) proved.push(await provenOrMoving(journal, id))
  return { rows: proved, proven: true }
}

async function provenOrMoving(journal: Journal, id: string): Promise<TaskRow> {
  try {
    return await provenRow(journal, id)
  } catch (error) {
    const moving = error instanceof JournalFault && error.code === 'busy' ? await recordedRow(journal, id) : undefined
    if (!moving) throw error
    return moving
  }
}

/** Rows for a list: finished ones are proved each, as long as they are few. Says whether they were. */
export async function provenList(journal: Journal, rows: readonly TaskRow[]): Promise<{ rows: TaskRow[]; proven: boolean }> {
  const finished = rows.filter(({ status }) => status === 'done')
  if (finished.length > maxProvenRows) return { rows: [...rows], proven: false }
  const proved = new Map<string, TaskRow>()
  for (const { id } of finished) proved.set(id, await provenRow(journal, id))
  return { rows: rows.map((row) => proved.get(row.id) ?? row), proven: true }
}
