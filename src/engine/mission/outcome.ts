import type { TaskRow } from '../views/tasks.ts'

/** How a run ended, for people and for exit codes: 1 over 3 over 0. */
export interface RunOutcome {
  exitCode: 0 | 1 | 3
  outcome: 'clean' | 'failed' | 'inconclusive'
  counts: Record<string, number>
}

/** Unreviewed work is inconclusive, unless the person who runs it said that nobody should look. */
export function outcomeOf(rows: readonly TaskRow[], evaluate: boolean): RunOutcome {
  const counts: Record<string, number> = {}
  for (const row of rows) {
    const label = row.status === 'done' ? (row.flag ?? 'done') : row.status
    counts[label] = (counts[label] ?? 0) + 1
  }
  const bad = rows.some((row) => row.status === 'failed' || row.status === 'skipped' || row.flag === 'below-threshold')
  if (bad) return { exitCode: 1, outcome: 'failed', counts }
  const open = rows.some((row) => row.status !== 'done' || (row.flag === 'unreviewed' && evaluate))
  return open ? { exitCode: 3, outcome: 'inconclusive', counts } : { exitCode: 0, outcome: 'clean', counts }
}
