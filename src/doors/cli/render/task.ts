import type { TaskRow } from '../../../engine/views/tasks.ts'
import type { Output } from '../output.ts'

/** The state of a task in words that cannot be mistaken for each other. */
export function stateWord(row: TaskRow): string {
  if (row.status === 'done') {
    if (row.flag === 'clean') return 'PASS'
    if (row.flag === 'below-threshold') return 'BELOW BAR'
    return row.flag === 'owner-accepted' ? 'OWNER-ACCEPTED' : 'UNREVIEWED'
  }
  return row.status === 'held' ? `held (${row.held})` : row.status
}

export function paintState(output: Output, row: TaskRow, text = stateWord(row)): string {
  if (row.status === 'done') return output.paint(row.flag === 'clean' ? 'green' : 'yellow', text)
  if (row.status === 'failed' || row.status === 'skipped') return output.paint('red', text)
  return row.status === 'held' ? output.paint('magenta', text) : output.paint('cyan', text)
}

/** The bar on 0–100, however it was written. */
export function barOn100(bar: number): number {
  return bar > 5 ? bar : Number((bar * 20).toFixed(2))
}

export function scoreText(row: TaskRow): string {
  return row.score ? `${row.score.on100}/${barOn100(row.bar)}` : ''
}
