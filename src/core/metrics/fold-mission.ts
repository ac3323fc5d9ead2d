import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { MissionSums } from './task-sums.ts'

/** The owner let something go on that did not reach its bar. */
const bypassing = new Set(['gate.waived', 'threshold.waived'])

/** Types of events that are counted of a mission itself. */
export const missionTypes: ReadonlySet<string> = new Set([...bypassing, 'sla.met', 'sla.violated'])

export function foldMission(row: MissionSums | undefined, { type }: StoredEvent, mission: string): MissionSums {
  const before = row ?? { mission, bypasses: 0, deadlinesMet: 0, deadlinesMissed: 0 }
  if (bypassing.has(type)) return { ...before, bypasses: before.bypasses + 1 }
  if (type === 'sla.met') return { ...before, deadlinesMet: before.deadlinesMet + 1 }
  return type === 'sla.violated' ? { ...before, deadlinesMissed: before.deadlinesMissed + 1 } : before
}
