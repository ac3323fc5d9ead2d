import type { AssayEvent } from '../../contract/events/manifest.ts'
import { readEvent } from '../../contract/events/read.ts'
import { decideGate, evolveGate, type MaybeGate } from '../../core/gate/gate.ts'
import { isFinished } from '../../core/task/decide.ts'
import type { MaybeTask, TaskState } from '../../core/task/state.ts'
import type { NewWork } from '../../contract/work.ts'
import type { Journal } from '../../ports/journal.ts'
import { gateStream, missionStream, taskStream } from '../streams.ts'
import { gateInputKey } from '../views/gates.ts'
import type { MissionRow } from '../views/tasks.ts'

/** Events of another stream that belong to a decision on a task; without any, the decision rests on that stream as it was seen. */
export interface Belonging {
  stream: string
  expected: number
  events: AssayEvent[]
  /** Work that these events call for. */
  work?: NewWork[]
}

/** Names of the gates that look at a task. */
export async function gatesAfter(journal: Pick<Journal, 'viewRows'>, task: string): Promise<string[]> {
  const rows = await journal.viewRows('gate_inputs', { prefix: gateInputKey(task, '') })
  return rows.map(({ row }) => (row as { gate: string }).gate)
}

export async function loadGate(
  journal: Pick<Journal, 'readStream'>,
  mission: string,
  name: string,
): Promise<{ state: MaybeGate; version: number }> {
  const events = await journal.readStream(gateStream(mission, name))
  return { state: events.map(readEvent).reduce<MaybeGate>(evolveGate, undefined), version: events.length }
}

/** A decision opens a task that had ended, or gives it another end. */
export function movesEnded(before: MaybeTask, events: readonly AssayEvent[], after: TaskState): boolean {
  return opensAgain(before, after) || endsAnew(before, events, after)
}

/** A decision opens a task that had ended. */
function opensAgain(before: MaybeTask, after: TaskState): boolean {
  return before !== undefined && (isFinished(before) ? !isFinished(after) : losesMerge(before, after))
}

const endings = new Set<AssayEvent['type']>(['task.accepted', 'task.force_accepted', 'task.failed', 'task.skipped'])

/** A decision gives a task that had ended another end: what waits for it, and how its run ended, have to be looked at anew. */
function endsAnew(before: MaybeTask, events: readonly AssayEvent[], after: TaskState): boolean {
  return before !== undefined && isFinished(before) && isFinished(after) && events.some(({ type }) => endings.has(type))
}

/** What was made of a task that had ended is open again: whoever was given it waits. */
export function countsNoLonger(before: MaybeTask, after: TaskState): boolean {
  return opensAgain(before, after) && !isMerged(after)
}

/**
 * The run of a task that was opened or given another end: finished, it is open, so that whoever works on open runs does what the decision calls
 * for and writes down anew how the run ended.
 */
export async function runOf(journal: Pick<Journal, 'head' | 'viewRow'>, { id, mission }: TaskState['spec']): Promise<Belonging[]> {
  if (mission === undefined) return []
  const stream = missionStream(mission)
  const expected = await journal.head(stream)
  const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
  const reopened: AssayEvent = { type: 'mission.reopened', data: { mission, task: id } }
  return [{ stream, expected, events: row?.finished === undefined ? [] : [reopened] }]
}

/** Gates that looked at tasks that count no longer are shut, and a question that they asked about them is withdrawn. Each is shut once. */
export async function shutGates(journal: Pick<Journal, 'viewRows' | 'readStream'>, tasks: readonly TaskState[]): Promise<Belonging[]> {
  const shut = new Map<string, Belonging>()
  for (const { spec } of tasks) {
    const { id: task, mission } = spec
    if (mission === undefined) continue
    for (const name of await gatesAfter(journal, task)) {
      const stream = gateStream(mission, name)
      if (shut.has(stream)) continue
      const { state, version } = await loadGate(journal, mission, name)
      const decided = decideGate(state, { type: 'reopen_gate', task })
      shut.set(stream, { stream, expected: version, events: decided.ok ? decided.value : [] })
    }
  }
  return [...shut.values()]
}

/** Accepted work that is being merged is not to be done again unless that fails: what gates said of it stands until then. */
function isMerged({ merging, status }: TaskState): boolean {
  return merging !== undefined && (status === 'in_review' || status === 'held')
}

function losesMerge(before: TaskState, after: TaskState): boolean {
  return isMerged(before) && !isMerged(after) && !isFinished(after)
}

/** How often a task was opened again so far. */
export async function timesReopened(journal: Pick<Journal, 'readStream'>, task: string): Promise<number> {
  return (await journal.readStream(taskStream(task))).filter(({ type }) => type === 'task.reopened').length
}
