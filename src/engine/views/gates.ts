import type { EventData } from '../../contract/events/manifest.ts'
import type { GateState } from '../../core/gate/gate.ts'
import { evolveGate } from '../../core/gate/gate.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { Score } from '../../contract/score.ts'
import type { View } from '../../ports/journal.ts'

/** A gate in a list. */
export interface GateRow {
  mission: string
  name: string
  status: GateState['status']
  reason?: string
  request?: string
  avgScore?: Score
  weak: string[]
  /** When the owner waived it or stopped what is behind it. */
  answered?: string
  state: GateState
}

/** Gates by their stream. */
export const gatesView: View<GateRow> = {
  name: 'gates',
  keys: (event) => (event.stream.startsWith('gate/') ? [event.stream] : []),
  fold: (row, event) => {
    const state = evolveGate(row?.state, asEvent(event))
    if (!state) return undefined
    const { mission, spec, status, reason, request, weak } = state
    const { avgScore } = event.data as { avgScore?: Score }
    const average = avgScore ?? row?.avgScore
    return {
      mission,
      name: spec.name,
      status,
      weak,
      state,
      ...(reason !== undefined && { reason }),
      ...(request !== undefined && { request }),
      ...(average && { avgScore: average }),
      ...((status === 'waived' || status === 'stopped') && {
        answered: row?.status === status ? (row.answered ?? event.meta.at) : event.meta.at,
      }),
    }
  },
}

const asEvent = ({ type, data }: StoredEvent): AssayEvent => ({ type, data }) as AssayEvent

/** Which gates look at a task: a row per edge. */
export const gateInputsView: View<{ gate: string }> = {
  name: 'gate_inputs',
  keys: (event) => {
    if (event.type !== 'gate.created') return []
    const { gate } = event.data as EventData<'gate.created'>
    return gate.afterTasks.map((task) => gateInputKey(task, gate.name))
  },
  fold: (_row, event) => ({ gate: (event.data as EventData<'gate.created'>).gate.name }),
}

export const gateInputKey = (task: string, gate: string): string => `${task}|${gate}`
