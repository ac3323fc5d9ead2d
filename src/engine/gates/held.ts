import type { GateRow } from '../views/gates.ts'
import type { TaskRow } from '../views/tasks.ts'

/** An input that a gate waits for although nothing moves it by itself. */
export interface HeldInput {
  mission: string
  gate: string
  task: string
  held: string
}

/** Which of these tasks are held while a gate waits for them. */
export function heldInputs(gates: readonly GateRow[], rows: readonly TaskRow[]): HeldInput[] {
  const waiting = gates.filter(({ status }) => status === 'waiting')
  if (waiting.length === 0) return []
  const held = new Map(rows.flatMap((row) => (row.status === 'held' ? [[row.id, row.held ?? 'operator'] as const] : [])))
  return waiting.flatMap(({ mission, name, state }) =>
    state.spec.afterTasks.flatMap((task) => {
      const why = held.get(task)
      return why === undefined ? [] : [{ mission, gate: name, task, held: why }]
    }),
  )
}
