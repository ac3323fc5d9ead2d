import type { EventData } from '../../contract/events/manifest.ts'
import type { View } from '../../ports/journal.ts'

/** Where a verdict stands that answers a certain question. */
export interface VerdictRow {
  stream: string
  version: number
}

/** Verdicts by the question that they answer: a finished verdict is not paid for twice. The first one stands. */
export const verdictsView: View<VerdictRow> = {
  name: 'verdicts',
  keys: (event) => {
    if (event.type !== 'verdict.recorded') return []
    const { question } = event.data as EventData<'verdict.recorded'>
    return question === undefined ? [] : [question]
  },
  fold: (row, event) => row ?? { stream: event.stream, version: event.version },
}
