import type { Engine } from '../engine.ts'
import { finishMission } from '../mission/finish.ts'
import type { TaskRow } from '../views/tasks.ts'
import { handleGate } from './gates.ts'

export interface Stopped {
  changed: string[]
  refused: { task: string; code: string; message: string }[]
  /** Names of the gates whose question was answered. */
  gates: string[]
}

const isOpen = ({ status }: TaskRow): boolean => status !== 'done' && status !== 'failed' && status !== 'skipped'

/**
 * The owner ends a run: whatever is not finished fails, gates that wait for an answer have it, and the run is finished, whatever policy is in
 * force by now. The door has checked the authority.
 */
export async function stopMission(engine: Engine, mission: string, { by, reason }: { by: string; reason: string }): Promise<Stopped> {
  const stopped: Stopped = { changed: [], refused: [], gates: [] }
  for (const { id } of (await engine.taskRows(`${mission}/`)).filter(isOpen)) {
    const handled = await engine.handle(id, { type: 'fail_task', reason: `${by} stopped the mission: ${reason}`, by }, by)
    if (handled.ok) stopped.changed.push(id)
    else stopped.refused.push({ task: id, code: handled.error.code, message: handled.error.message })
  }
  for (const { name, request } of await engine.gates(mission)) {
    if (request === undefined) continue
    const answered = await handleGate(engine.parts, { mission, name }, { type: 'answer_gate', request, answer: 'stop', by, reason }, by)
    // One that somebody else answered meanwhile asks no longer.
    if (answered.ok) stopped.gates.push(name)
  }
  await finishMission(engine.parts, mission)
  await engine.deadlines.look([mission])
  await engine.sendPending()
  return stopped
}
