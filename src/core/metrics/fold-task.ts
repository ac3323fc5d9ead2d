import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import { foldReview, reviewTypes } from './fold-review.ts'
import { newTask, type TaskSums } from './task-sums.ts'

type Fold = (row: TaskSums, data: never) => TaskSums

/** What a fold knows of an event's place: the core has no streams. */
export interface TaskPlace {
  task: string
  mission: string
}

/** The task's row after an event. Undefined for a task that was never created. */
export function foldTask(row: TaskSums | undefined, event: StoredEvent, place: TaskPlace): TaskSums | undefined {
  if (event.type === 'task.created') {
    const { spec } = event.data as EventData<'task.created'>
    return newTask({ ...place, assignee: spec.assignee, rubric: spec.dimensions.map(({ name }) => name) })
  }
  if (!row) return undefined
  const fold = folds[event.type]
  return fold ? fold(row, event.data as never) : foldReview(row, event)
}

const folds: Record<string, Fold> = {
  'attempt.started': (row) => {
    const { submitted: _former, ...rest } = row
    return { ...rest, executions: row.executions + 1, handedIn: 0 }
  },
  'case.submitted': (row, { content }: EventData<'case.submitted'>) => ({ ...handIn(row), submitted: content.digest }),
  'case.parse_error': (row) => handIn(row),
  'merge.changed': (row, { content }: EventData<'merge.changed'>) => ({ ...row, submitted: content.digest }),
  'merge.requested': (row) => notAccepted(row),
  'merge.failed': (row) => firstPass(row, false),
  'attempt.failed': (row) => firstPass(row, false),
  'attempt.interrupted': (row) => firstPass(row, false),
  'attempt.rejected': (row) => firstPass(row, false),
  'task.accepted': (row, { flag, content }: EventData<'task.accepted'>) => {
    const ended = flag === 'unreviewed' ? row : firstPass(row, flag === 'clean')
    return content === null ? notAccepted(ended) : { ...ended, accepted: content }
  },
  'task.force_accepted': (row, { content }: EventData<'task.force_accepted'>) => ({
    ...firstPass(row, false),
    forceAccepts: row.forceAccepts + 1,
    accepted: content,
  }),
  'task.failed': (row) => notAccepted(row.executions === 0 ? row : firstPass(row, false)),
  'task.reopened': (row) => notAccepted(row),
  'policy.adopted': (row, { dimensions }: EventData<'policy.adopted'>) => ({ ...row, rubric: dimensions.map(({ name }) => name) }),
  'sla.met': (row) => ({ ...row, deadlinesMet: row.deadlinesMet + 1 }),
  'sla.violated': (row) => ({ ...row, deadlinesMissed: row.deadlinesMissed + 1 }),
}

const counted: ReadonlySet<string> = new Set(['task.created', ...Object.keys(folds), ...reviewTypes])

/** Whether an event changes a task's row. The first ask of a seat does not: what it comes to does. */
export function countsForTask({ type, data }: StoredEvent): boolean {
  if (type === 'seat.asked') return ['retry', 'reprompt'].includes((data as EventData<'seat.asked'>).because)
  return counted.has(type)
}

/** Whatever is handed in after the first time within an attempt is a fix, whether the time before could be read or not. */
function handIn(row: TaskSums): TaskSums {
  return { ...row, handedIn: row.handedIn + 1, fixes: row.fixes + (row.handedIn > 0 ? 1 : 0) }
}

/** Settled once: what comes after a reopening is no first pass. */
function firstPass(row: TaskSums, passed: boolean): TaskSums {
  return { ...row, firstPass: row.firstPass ?? passed }
}

function notAccepted(row: TaskSums): TaskSums {
  const { accepted: _former, ...rest } = row
  return rest
}
