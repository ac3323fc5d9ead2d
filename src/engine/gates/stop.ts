import type { Journal, StreamAppend } from '../../ports/journal.ts'
import { decideGate, evolveGate, type GateState } from '../../core/gate/gate.ts'
import { decide } from '../../core/task/decide.ts'
import { evolveAll } from '../../core/task/evolve/evolve.ts'
import type { NewWork } from '../../contract/work.ts'
import type { Engine } from '../engine.ts'
import { endingOf, finishMission, gateRows } from '../mission/finish.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { gateStream, taskOf, taskStream } from '../streams.ts'
import { reactions } from '../task/reactions.ts'
import { asNew, TaskStore } from '../task/task-store.ts'
import type { GateRow } from '../views/gates.ts'
import type { TaskRow } from '../views/tasks.ts'

export interface Stopped {
  changed: string[]
  refused: { task: string; code: string; message: string }[]
  /** Names of the gates whose question was answered. */
  gates: string[]
}

interface Order {
  by: string
  reason: string
}

/** Tasks that are ended in one append; of more, those that no gate looks at end before. */
const atOnce = 1_000
/** How often the end is written anew because a task moved meanwhile; then that one is ended by itself, and the rest after it. */
const patience = 10

const isOpen = ({ status }: TaskRow): boolean => status !== 'done' && status !== 'failed' && status !== 'skipped'

/**
 * The owner ends a run: whatever is not finished fails, gates that wait for an answer have it, and the run is finished, whatever policy is in
 * force by now. That is one append, so that no gate asks anything in between. The door has checked the authority.
 */
export async function stopMission(engine: Engine, mission: string, order: Order): Promise<Stopped> {
  const stopped: Stopped = { changed: [], refused: [], gates: [] }
  // What was accepted before reaches the owner, and what is held back counts in how the run ended.
  await engine.showEndings([mission])
  const failAlone = async (task: string) => {
    const handled = await engine.handle(task, failing(order), order.by)
    if (handled.ok) stopped.changed.push(task)
    return handled
  }
  for (const task of await beforehand(engine.parts, mission)) {
    const handled = await failAlone(task)
    if (!handled.ok) stopped.refused.push({ task, code: handled.error.code, message: handled.error.message })
  }
  const tasks = new TaskStore(engine.parts)
  for (let tries = 1; ; tries += 1) {
    const ended = await stopNow(engine.parts, tasks, mission, order)
    if (!('moved' in ended)) {
      stopped.changed.push(...ended.tasks)
      stopped.gates.push(...ended.gates)
      break
    }
    const moved = tries > patience ? taskOf(ended.moved) : undefined
    if (moved !== undefined) await failAlone(moved)
    if (tries > patience * atOnce) break
  }
  await finishMission(engine.parts, mission)
  await engine.showEndings([mission])
  await engine.deadlines.look([mission])
  await engine.sendPending()
  return stopped
}

function failing({ by, reason }: Order) {
  return { type: 'fail_task', reason: `${by} stopped the mission: ${reason}`, by } as const
}

async function rowsOf(journal: Pick<Journal, 'viewRows'>, mission: string): Promise<TaskRow[]> {
  return (await journal.viewRows('tasks', { prefix: `${mission}/` })).map(({ row }) => row as TaskRow)
}

/** Of a large mission, open tasks that no gate looks at: their end lets no gate look. */
async function beforehand(parts: EngineParts, mission: string): Promise<string[]> {
  const open = (await rowsOf(parts.journal, mission)).filter(isOpen)
  if (open.length <= atOnce) return []
  const looked = new Set((await gateRows(parts, [mission])).flatMap(({ state }) => state.spec.afterTasks))
  return open.flatMap(({ id }) => (looked.has(id) ? [] : [id]))
}

/** All that is written, or the stream that moved meanwhile. */
async function stopNow(
  parts: EngineParts,
  tasks: TaskStore,
  mission: string,
  order: Order,
): Promise<{ tasks: string[]; gates: string[] } | { moved: string }> {
  const { journal, clock, config } = parts
  const ended = await endTasks(parts, tasks, mission, order)
  const { rows, gates: shut } = { rows: await rowsOf(journal, mission), gates: await endGates(parts, mission, order) }
  const failed = new Set(ended.tasks)
  const at = new Date(clock.now()).toISOString()
  const own = rows.map((row) => (failed.has(row.id) ? asFailed(row, at) : row))
  const late = own.find(isOpen)
  if (late) return { moved: taskStream(late.id) }
  const ending = await endingOf(parts, mission, { own, gates: shut.rows })
  if (!ending && shut.names.length === 0) return { tasks: [], gates: [] }
  const streams = [...ended.streams, ...shut.streams, ...(ending ? [ending] : [])]
  const enqueue = [...ended.work, ...notificationsOf(streams, at, config)]
  const appended = await journal.append({ streams, meta: { at, actor: order.by }, enqueue })
  if (appended.ok) return { tasks: ended.tasks, gates: shut.names }
  return { moved: appended.code === 'version_conflict' ? appended.stream : '' }
}

/** A row as it is once the task has failed; what it was accepted as counts no longer. */
function asFailed({ flag: _flag, ...row }: TaskRow, ended: string): TaskRow {
  return { ...row, status: 'failed', ended }
}

interface EndedTasks {
  tasks: string[]
  streams: StreamAppend[]
  work: NewWork[]
}

/** Open tasks fail; the others have to stand as they are. */
async function endTasks({ journal, rules }: EngineParts, tasks: TaskStore, mission: string, order: Order): Promise<EndedTasks> {
  const ended: EndedTasks = { tasks: [], streams: [], work: [] }
  for (const row of await rowsOf(journal, mission)) {
    const stream = taskStream(row.id)
    const { state, version } = isOpen(row) ? await tasks.load(row.id) : { state: undefined, version: await journal.head(stream) }
    const decided = state && decide(state, failing(order), rules)
    const events = decided?.ok ? decided.value : []
    const after = decided?.ok ? evolveAll(state, events) : undefined
    if (after) {
      ended.tasks.push(row.id)
      ended.work.push(...reactions(events, version + 1, after))
    }
    ended.streams.push({ stream, expected: version, events: events.map(asNew) })
  }
  return ended
}

interface EndedGates {
  /** Those that had asked something. */
  names: string[]
  rows: GateRow[]
  streams: StreamAppend[]
}

/** Gates that ask are answered; the others have to stand as they are. */
async function endGates(parts: EngineParts, mission: string, { by, reason }: Order): Promise<EndedGates> {
  const ended: EndedGates = { names: [], rows: [], streams: [] }
  for (const { name } of await gateRows(parts, [mission])) {
    const stream = gateStream(mission, name)
    const expected = await parts.journal.head(stream)
    const row = (await parts.journal.viewRow('gates', stream)) as GateRow
    const { request } = row
    const why = reason.trim() === '' ? 'the mission was stopped' : reason
    const command = { type: 'answer_gate', answer: 'stop', by, reason: why } as const
    const decided = request === undefined ? undefined : decideGate(row.state, { ...command, request })
    const events = decided?.ok ? decided.value : []
    const { status } = events.reduce((state, event) => evolveGate(state, event) ?? state, row.state satisfies GateState)
    if (events.length > 0) ended.names.push(name)
    ended.rows.push({ ...row, status, ...(events.length > 0 && { answered: new Date(parts.clock.now()).toISOString() }) })
    ended.streams.push({ stream, expected, events: events.map(asNew) })
  }
  return ended
}
