import { digestOf } from '../../contract/canonical.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { View } from '../../ports/journal.ts'
import { taskOf } from '../streams.ts'

/** Tasks in which judges were asked about a subject, the last one last. */
export interface JudgedRow {
  tasks: string[]
}

const mostTasks = 20

/** Where a subject was judged, by its digest. */
export const judgedView: View<JudgedRow> = {
  name: 'judged',
  keys: (event) => (event.type === 'review.opened' ? [digestOf((event.data as EventData<'review.opened'>).subject)] : []),
  fold: (row, event) => {
    const task = taskOf(event.stream)
    if (task === undefined) return row
    return { tasks: [...(row?.tasks ?? []).filter((one) => one !== task), task].slice(-mostTasks) }
  },
}
