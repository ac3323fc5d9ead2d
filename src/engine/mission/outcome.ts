import type { MissionOutcome } from '../../contract/events/mission.ts'
import type { GateRow } from '../views/gates.ts'
import type { TaskRow } from '../views/tasks.ts'

/** How a run ended, for people and for exit codes: 1 over 3 over 0. */
export interface RunOutcome {
  exitCode: 0 | 1 | 3
  outcome: MissionOutcome
  counts: Record<string, number>
}

/** What stands above single tasks. */
export interface Above {
  gates: readonly GateRow[]
  /** Missions whose quality threshold was missed. */
  missed: readonly string[]
  /** Accepted work that did not reach the owner. */
  withheld?: readonly unknown[]
}

/**
 * Unreviewed work is never called clean; its exit code is 0 where the person who runs it said that nobody should look. Nor is work that the owner
 * accepted, but nobody is waited for: a waived gate ends with 0 as well.
 */
export function outcomeOf(rows: readonly TaskRow[], evaluate: boolean, above: Above = { gates: [], missed: [] }): RunOutcome {
  const counts: Record<string, number> = {}
  for (const row of rows) {
    const label = row.status === 'done' ? (row.flag ?? 'done') : row.status
    counts[label] = (counts[label] ?? 0) + 1
  }
  const shut = above.gates.some(({ status }) => status === 'failed' || status === 'stopped')
  const bad = rows.some((row) => row.status === 'failed' || row.status === 'skipped' || row.flag === 'below-threshold')
  if (bad || shut || above.missed.length > 0) return { exitCode: 1, outcome: 'failed', counts }
  if (rows.some((row) => row.status !== 'done')) return { exitCode: 3, outcome: 'inconclusive', counts }
  if (rows.some((row) => row.flag === 'unreviewed')) return { exitCode: evaluate ? 3 : 0, outcome: 'unreviewed', counts }
  if ((above.withheld ?? []).length > 0) return { exitCode: 3, outcome: 'inconclusive', counts }
  return { exitCode: 0, outcome: rows.some((row) => row.flag === 'owner-accepted') ? 'owner-accepted' : 'clean', counts }
}
