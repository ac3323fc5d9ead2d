import { isFinished } from '../../core/task/decide.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Bench } from '../work/bench.ts'
import { missionStream, taskStream } from '../streams.ts'
import type { Journal, StreamAppend } from '../../ports/journal.ts'
import type { MissionRow } from '../views/tasks.ts'
import type { GateCommand, GateInput } from '../../core/gate/gate.ts'
import { handleGate } from './gates.ts'
import { gatesAfter, loadGate } from './open-again.ts'

/** What a gate's outcome means for a task that it blocks. */
export interface Blocked {
  ready(task: string): Promise<void>
  skip(task: string, because: string): Promise<void>
}

/** A task ended: every gate that looks at it looks now. One that was opened again has shut them itself. Safe to repeat. */
export async function settleGates(bench: Bench, task: TaskState, blocked: Blocked): Promise<void> {
  const { id, mission } = task.spec
  if (mission === undefined || !isFinished(task)) return
  for (const name of await gatesAfter(bench.parts.journal, id)) {
    await evaluateGate(bench, mission, name, id)
    await tellBlocked(bench, mission, name, blocked)
  }
}

/** How often a gate looks again because one of its inputs moved while it was looked at. */
const maxLooks = 25

/**
 * Looks where every input has ended. A gate that failed looks again where `task` has ended: the owner may have accepted it. What it decides rests
 * on every input as it was seen, and on a run that goes on: nothing asks in one that was stopped.
 */
export async function evaluateGate(bench: Bench, mission: string, name: string, task?: string): Promise<void> {
  const { evaluate } = bench.parts.rules.policy.review
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const { state } = await loadGate(bench.parts.journal, mission, name)
    if (state?.status !== 'waiting' && state?.status !== 'failed') return
    const seen = await endedInputs(bench, `gate/${mission}/${name}`, state.spec.afterTasks)
    if (!seen) return
    const { inputs } = seen
    const run = await openRun(bench.parts.journal, mission)
    if (!run) return
    const unmoved = [...seen.unmoved, run]
    const command: GateCommand = { type: 'evaluate_gate', inputs, evaluate, ...(task !== undefined && { task }) }
    const handled = await handleGate(bench.parts, { mission, name }, command, 'runtime', async () => ({ unmoved }))
    if (handled.ok || handled.error.code !== 'inputs_incomplete') return
  }
}

/** Appended with what rests on a run that is not finished; undefined where it is. */
async function openRun(journal: Pick<Journal, 'head' | 'viewRow'>, mission: string): Promise<StreamAppend | undefined> {
  const stream = missionStream(mission)
  // Before the row is looked at: a run that is finished in between is found to have moved.
  const expected = await journal.head(stream)
  const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
  return row?.finished === undefined ? { stream, expected, events: [] } : undefined
}

/** Looks at the inputs from where one was missing last time, and ends at the first that is: few of many are looked at. Undefined where one is. */
async function endedInputs(
  bench: Bench,
  key: string,
  afterTasks: readonly string[],
): Promise<{ inputs: GateInput[]; unmoved: StreamAppend[] } | undefined> {
  const from = bench.missing.get(key) ?? 0
  const inputs: GateInput[] = []
  const unmoved: StreamAppend[] = []
  for (const step of afterTasks.keys()) {
    const at = (from + step) % afterTasks.length
    const task = afterTasks[at] as string
    const { state: input, version } = await bench.tasks.load(task)
    if (!input || !isFinished(input)) {
      bench.missing.set(key, at)
      return undefined
    }
    const { flag, score } = input.done ?? {}
    inputs.push({ task: input.spec.id, status: input.status, ...(flag && { flag }), ...(score && { score }) })
    unmoved.push({ stream: taskStream(task), expected: version, events: [] })
  }
  bench.missing.delete(key)
  return { inputs, unmoved }
}

export const stoppedText = (gate: string): string => `the quality gate ${gate} was stopped`

/** Says to whatever the gate blocks that it may go on, or never will. */
export async function tellBlocked(bench: Bench, mission: string, name: string, blocked: Blocked): Promise<void> {
  const { state } = await loadGate(bench.parts.journal, mission, name)
  if (!state || state.status === 'waiting' || state.status === 'failed') return
  for (const task of state.spec.blocksTasks) {
    if (state.status === 'stopped') await blocked.skip(task, stoppedText(name))
    else await blocked.ready(task)
  }
}
