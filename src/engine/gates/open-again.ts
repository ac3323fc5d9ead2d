import type { AssayEvent } from '../../contract/events/manifest.ts'
import { readEvent } from '../../contract/events/read.ts'
import { decideGate, evolveGate, type MaybeGate } from '../../core/gate/gate.ts'
import { isFinished } from '../../core/task/decide.ts'
import type { MaybeTask, TaskState } from '../../core/task/state.ts'
import type { Journal } from '../../ports/journal.ts'
import { gateStream, missionStream, taskStream } from '../streams.ts'
import { gateInputKey } from '../views/gates.ts'
import type { MissionRow } from '../views/tasks.ts'

/** Events of another stream that belong to a decision on a task; without any, the decision rests on that stream as it was seen. */
export interface Belonging {
  stream: string
  expected: number
  events: AssayEvent[]
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

/**
 * What has to be written with a decision on a task that had ended. Opened again, so that nothing starts in between: gates that looked at it are
 * shut, and a question that they asked about it is withdrawn. Opened or ended otherwise: its finished run is open, so that whoever works on open
 * runs does what the decision calls for and writes down anew how the run ended.
 */
export async function belongingTo(journal: Journal, before: MaybeTask, after: TaskState): Promise<Belonging[]> {
  const { id, mission } = after.spec
  if (mission === undefined) return []
  const shut = !opensAgain(before, after) || isMerged(after) ? [] : await shutGates(journal, mission, id)
  const stream = missionStream(mission)
  const expected = await journal.head(stream)
  const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
  const reopened: AssayEvent = { type: 'mission.reopened', data: { mission, task: id } }
  return [...shut, { stream, expected, events: row?.finished === undefined ? [] : [reopened] }]
}

async function shutGates(journal: Journal, mission: string, task: string): Promise<Belonging[]> {
  const shut: Belonging[] = []
  for (const name of await gatesAfter(journal, task)) {
    const { state, version } = await loadGate(journal, mission, name)
    const decided = decideGate(state, { type: 'reopen_gate', task })
    shut.push({ stream: gateStream(mission, name), expected: version, events: decided.ok ? decided.value : [] })
  }
  return shut
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
