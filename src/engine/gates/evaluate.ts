import { isFinished } from '../../core/task/decide.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Bench } from '../work/bench.ts'
import { gatesAfter, handleGate, loadGate } from './gates.ts'
import type { GateInput } from '../../core/gate/gate.ts'

/** What a gate's outcome means for a task that it blocks. */
export interface Blocked {
  ready(task: string): Promise<void>
  skip(task: string, because: string): Promise<void>
}

/** A task ended, or is open again: every gate that looks at it looks now. Safe to repeat. */
export async function settleGates(bench: Bench, task: TaskState, blocked: Blocked): Promise<void> {
  const { id, mission } = task.spec
  if (mission === undefined) return
  for (const name of await gatesAfter(bench.parts, id)) {
    if (!isFinished(task)) await handleGate(bench.parts, { mission, name }, { type: 'reopen_gate', task: id }, 'runtime')
    else await evaluateGate(bench, mission, name, id)
    await tellBlocked(bench, mission, name, blocked)
  }
}

/**
 * Looks at the inputs from where one was missing last time, and ends at the first that is: few of many are looked at. A gate that failed looks
 * again: the owner may have accepted `task`, for which it failed.
 */
async function evaluateGate(bench: Bench, mission: string, name: string, task: string): Promise<void> {
  const { state } = await loadGate(bench.parts, mission, name)
  if (state?.status !== 'waiting' && state?.status !== 'failed') return
  const { afterTasks } = state.spec
  const key = `gate/${mission}/${name}`
  const from = bench.missing.get(key) ?? 0
  const inputs: GateInput[] = []
  for (const step of afterTasks.keys()) {
    const at = (from + step) % afterTasks.length
    const { state: input } = await bench.tasks.load(afterTasks[at] as string)
    if (!input || !isFinished(input)) return void bench.missing.set(key, at)
    const { flag, score } = input.done ?? {}
    inputs.push({ task: input.spec.id, status: input.status, ...(flag && { flag }), ...(score && { score }) })
  }
  bench.missing.delete(key)
  const { evaluate } = bench.parts.rules.policy.review
  await handleGate(bench.parts, { mission, name }, { type: 'evaluate_gate', inputs, evaluate, task }, 'runtime')
}

export const stoppedText = (gate: string): string => `the quality gate ${gate} was stopped`

/** Says to whatever the gate blocks that it may go on, or never will. */
export async function tellBlocked(bench: Bench, mission: string, name: string, blocked: Blocked): Promise<void> {
  const { state } = await loadGate(bench.parts, mission, name)
  if (!state || state.status === 'waiting' || state.status === 'failed') return
  for (const task of state.spec.blocksTasks) {
    if (state.status === 'stopped') await blocked.skip(task, stoppedText(name))
    else await blocked.ready(task)
  }
}
