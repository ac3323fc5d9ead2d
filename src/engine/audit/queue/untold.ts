import { readEvent } from '../../../contract/events/read.ts'
import type { NewWork } from '../../../contract/work.ts'
import { isOpen } from '../../../core/gate/gate.ts'
import { evolveAll } from '../../../core/task/evolve/evolve.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { Journal } from '../../../ports/journal.ts'
import { loadGate } from '../../gates/open-again.ts'
import { taskStream } from '../../streams.ts'
import type { MissionRow, TaskRow } from '../../views/tasks.ts'
import { latestCalled, type Lost } from './again.ts'

const pageSize = 1000
const ended = new Set(['done', 'failed', 'skipped'])

/**
 * Tasks that wait though all that they wait for has come, or never will, while the queue has no work that would tell them (`settle_dependents`,
 * `settle_gate`); of one mission alone where it is named. Goes by rows, which are to be proved first. Changes nothing.
 */
export async function untoldTasks(journal: Journal, mission?: string): Promise<Lost[]> {
  const found: Lost[] = []
  let afterKey: string | undefined
  do {
    const range = { ...(mission !== undefined && { prefix: `${mission}/` }), ...(afterKey !== undefined && { afterKey }) }
    const rows = await journal.viewRows('tasks', { ...range, limit: pageSize })
    for (const { row } of rows) {
      const { id, status, held } = row as TaskRow
      const lost = status === 'waiting' || held === 'stale_input' ? await untold(journal, id) : undefined
      if (lost) found.push(lost)
    }
    afterKey = rows.length === pageSize ? rows.at(-1)?.key : undefined
  } while (afterKey !== undefined)
  return found
}

async function untold(journal: Journal, id: string): Promise<Lost | undefined> {
  const stream = taskStream(id)
  const events = await journal.readStream(stream)
  const state = evolveAll(undefined, events.map(readEvent))
  const tellers = state && (await tellersOf(journal, state))
  if (!state || !tellers || (await isToBeTold(journal, state, tellers))) return undefined
  // Whoever was told meanwhile has moved.
  if ((await journal.head(stream)) !== events.length) return undefined
  const [teller = ''] = tellers
  const problem = `the task is ${state.status}, what it waits for has come or never will (${teller}), but the queue has no work that tells it (settle_dependents)`
  const link = { stream, version: events.length, position: events.at(-1)?.position ?? null, problem }
  return { link, again: await tellingOf(journal, state, teller) }
}

/** The tasks of which this one would be told by now; undefined where it waits for something that is to come. */
async function tellersOf(journal: Journal, { spec, status, staleInputs }: TaskState): Promise<string[] | undefined> {
  if (status !== 'waiting') {
    const landed: string[] = []
    for (const input of staleInputs) if ((await statusOf(journal, input)) === 'done') landed.push(input)
    return landed.length > 0 ? landed : undefined
  }
  const tellers: string[] = []
  for (const dependency of spec.dependsOn) {
    const now = await statusOf(journal, dependency)
    if (now === 'failed' || now === 'skipped') return [dependency]
    if (now !== 'done') return undefined
    tellers.push(dependency)
  }
  for (const name of spec.gates ?? []) {
    const { state: gate } = await loadGate(journal, spec.mission ?? '', name)
    if (!gate || gate.status === 'failed') return undefined
    const { afterTasks } = gate.spec
    if (gate.status === 'stopped') return afterTasks
    // In a run that was stopped no gate looks any more.
    if (!isOpen(gate)) return (await isRunning(journal, gate.mission)) && (await haveEnded(journal, afterTasks)) ? afterTasks : undefined
    tellers.push(...afterTasks)
  }
  return tellers.length > 0 ? tellers : undefined
}

async function statusOf(journal: Journal, task: string): Promise<string | undefined> {
  return ((await journal.viewRow('tasks', task)) as TaskRow | undefined)?.status
}

async function isRunning(journal: Journal, mission: string): Promise<boolean> {
  const row = (await journal.viewRow('missions', mission)) as MissionRow | undefined
  return row !== undefined && row.finished === undefined
}

async function haveEnded(journal: Journal, tasks: readonly string[]): Promise<boolean> {
  for (const task of tasks) if (!ended.has((await statusOf(journal, task)) ?? '')) return false
  return true
}

async function isToBeTold(journal: Journal, { spec }: TaskState, tellers: readonly string[]): Promise<boolean> {
  return (await journal.queued()).some(({ kind, payload }) => {
    const { task, mission, gate } = (payload ?? {}) as { task?: unknown; mission?: unknown; gate?: unknown }
    if (kind === 'settle_gate') return mission === spec.mission && typeof gate === 'string' && (spec.gates ?? []).includes(gate)
    return kind === 'settle_dependents' && typeof task === 'string' && (task === spec.id || tellers.includes(task))
  })
}

/** Told by the work that the teller's own events called for, or by that of a task that came late. */
async function tellingOf(journal: Journal, { spec }: TaskState, teller: string): Promise<NewWork[]> {
  const called = latestCalled(await journal.readStream(taskStream(teller)), 'settle_dependents')
  if (called.length > 0 || !spec.dependsOn.includes(teller)) return called
  const key = `${taskStream(spec.id)}+${teller}`
  return [{ key, kind: 'settle_dependents', scope: spec.mission ?? '', priority: 1, payload: { task: teller } }]
}
