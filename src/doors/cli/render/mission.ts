import type { Engine } from '../../../engine/engine.ts'
import type { HeldInput } from '../../../engine/gates/held.ts'
import { outcomeOf } from '../../../engine/mission/outcome.ts'
import type { MissionRow } from '../../../engine/views/tasks.ts'
import { oneLine } from '../output.ts'
import { cut } from './table.ts'

/** A run with what the owner waived since it ended. */
export interface Standing extends MissionRow {
  /** Names of its gates that were waived. */
  waivedGates?: string[]
}

/** A run that failed for what was waived later stands as it would without that. */
export async function standingOf(engine: Engine, row: MissionRow): Promise<Standing> {
  const gates = await engine.gates(row.id)
  const waivedGates = gates.filter(({ status }) => status === 'waived').map(({ name }) => name)
  const waived = waivedGates.length > 0 || row.threshold === 'waived'
  if (!waived) return row
  const standing = { ...row, ...(waivedGates.length > 0 && { waivedGates }) }
  if (row.outcome !== 'failed') return standing
  const missed = row.threshold === 'failed' ? [row.id] : []
  const { evaluate } = engine.parts.rules.policy.review
  return { ...standing, outcome: outcomeOf(await engine.taskRows(`${row.id}/`), evaluate, { gates, missed }).outcome }
}

export function standingText({ finished, outcome, threshold, waivedGates = [] }: Standing): string {
  const parts = [finished === undefined ? 'open' : (outcome ?? 'finished'), ...waiverWords(waivedGates.length, threshold === 'waived')]
  if (finished !== undefined && threshold === 'failed') parts.push('threshold missed')
  return parts.join(', ')
}

/** `1 gate waived`, `threshold waived`: nobody should take waived work for work that passed. */
export function waiverWords(gates: number, threshold: boolean): string[] {
  return [...(gates > 0 ? [`${gates} ${gates === 1 ? 'gate' : 'gates'} waived`] : []), ...(threshold ? ['threshold waived'] : [])]
}

/** A gate that waits for what nothing moves by itself. */
export function heldInputText({ gate, task, held }: HeldInput, width = 200): string {
  return `${oneLine(gate, 60)}: waits for ${cut(oneLine(task, 200), width)}, which is held (${held})`
}
