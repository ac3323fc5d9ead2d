import type { BrokenLink } from '../../contract/chain.ts'
import { readEvent } from '../../contract/events/read.ts'
import type { Policy } from '../../contract/policy.ts'
import type { WorkKind } from '../../contract/work.ts'
import { evolveAll } from '../../core/task/evolve/evolve.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Journal } from '../../ports/journal.ts'
import { isOutside } from '../outside/who.ts'
import type { EngineParts } from '../parts.ts'
import { StoreFault } from '../store-fault.ts'
import { taskOf, taskStream } from '../streams.ts'
import type { TaskStore } from '../task/task-store.ts'
import type { TaskRow } from '../views/tasks.ts'
import { latestCalled, type Lost, queueAgain } from './queue/again.ts'
import { untoldTasks } from './queue/untold.ts'

const pageSize = 1000
/** How often a task that others are moving meanwhile is looked at again. */
const maxLooks = 5

/** Open tasks that wait for work which the queue does not have: nothing would ever happen to them. Changes nothing. */
export async function unqueuedTasks(journal: Journal, policy: Policy): Promise<BrokenLink[]> {
  return (await unqueuedWork(journal, policy)).map(({ link }) => link)
}

/** The same, with the work that they wait for. */
export async function unqueuedWork(journal: Journal, policy: Policy): Promise<Lost[]> {
  const found: Lost[] = []
  let afterKey: string | undefined
  do {
    const rows = await journal.viewRows('tasks', { ...(afterKey !== undefined && { afterKey }), limit: pageSize })
    const open = rows.map(({ row }) => row as TaskRow).filter(({ status }) => ['todo', 'running', 'checking', 'in_review'].includes(status))
    if (open.length > 0) {
      const queued = await queuedWork(journal)
      for (const row of open) if (row.status === 'running' || !queued.has(row.id)) found.push(...(await missing(journal, policy, row)))
    }
    afterKey = rows.length === pageSize ? rows.at(-1)?.key : undefined
  } while (afterKey !== undefined)
  return found
}

/** The tasks for which the queue has work. */
async function queuedWork(journal: Journal): Promise<Map<string, Set<string>>> {
  const queued = new Map<string, Set<string>>()
  for (const { kind, payload } of await journal.queued()) {
    const { task } = (payload ?? {}) as { task?: unknown }
    if (typeof task === 'string') queued.set(task, (queued.get(task) ?? new Set()).add(kind))
  }
  return queued
}

/** Work and events change in one transaction: what was read before and after the queue, and is the same, was true while it was read. */
async function missing(journal: Journal, policy: Policy, { id, outside }: TaskRow): Promise<Lost[]> {
  const stream = taskStream(id)
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const events = await journal.readStream(stream)
    const state = evolveAll(undefined, events.map(readEvent))
    const kinds = (await queuedWork(journal)).get(id) ?? new Set()
    if ((await journal.head(stream)) !== events.length) continue
    const wanted = state ? wantedBy(state, outside === true || isOutside(policy, state.spec.assignee)) : undefined
    if (wanted === undefined || kinds.has(wanted)) return []
    const problem = `the task is ${state?.status}, but the queue has no work for it (${wanted}): nothing would ever happen to it`
    const link = { stream, version: events.length, position: events.at(-1)?.position ?? null, problem }
    return [{ link, again: latestCalled(events, wanted) }]
  }
  return []
}

/** The kind of work that the task's events have asked for and that has not come back; undefined where somebody outside has the word. */
function wantedBy({ status, restoring, merging, panel, current }: TaskState, outside: boolean): WorkKind | undefined {
  if (status === 'todo') return outside ? undefined : 'run_attempt'
  // Whoever is outside may vanish: somebody has to look after it.
  if (status === 'running') return current?.outside ? 'watch_worker' : undefined
  if (status === 'checking') return 'run_checks'
  if (status !== 'in_review') return undefined
  if (restoring) return 'restore_snapshot'
  if (merging) return merging.merge ? 'publish_merge' : 'merge_work'
  const comesByItself = new Set(panel?.roster.filter((one) => one.outside).map(({ judge }) => judge))
  return panel?.seats.some(({ status: said, judge }) => said === 'asked' && !comesByItself.has(judge)) ? 'ask_judge' : undefined
}

/**
 * For a run that has nothing left to do: whoever waits, though what it waits for has come, is told after all. Resolves to whether somebody is; once,
 * as a task that was told and waits all the same does so for a reason.
 */
export function untoldTeller({ journal, clock }: EngineParts, missions: readonly string[]): () => Promise<boolean> {
  let hasTold = false
  return async () => {
    if (hasTold) return false
    const untold: Lost[] = []
    for (const mission of missions) untold.push(...(await untoldTasks(journal, mission)))
    hasTold = (await queueAgain(journal, untold, new Date(clock.now()).toISOString())).length > 0
    return hasTold
  }
}

/**
 * A run finds open tasks and an empty queue. Each such task is held, and its owner asked: another try queues its work anew. Where that cannot
 * be, the run ends by naming them.
 */
export async function askAboutIdle({ journal, rules }: EngineParts, tasks: TaskStore, missions: readonly string[]): Promise<void> {
  const idle = (await unqueuedTasks(journal, rules.policy)).flatMap(({ stream }) => taskOf(stream) ?? [])
  const named = idle.filter((task) => missions.some((mission) => task.startsWith(`${mission}/`)))
  const left: string[] = []
  for (const task of named) {
    const { state } = await tasks.load(task)
    const detail = `the task is ${state?.status}, but no work was queued for it; another try queues it`
    const handled =
      state?.panel === undefined
        ? await tasks.handle(task, { type: 'hold_task', reason: 'operator', detail }, { actor: 'runtime' })
        : undefined
    if (!handled?.ok) left.push(task)
  }
  if (named.length > 0 && left.length === 0) return
  const which = left.length === 0 ? 'tasks are open' : `${left.slice(0, 5).join(', ')}${left.length > 5 ? ', …' : ''}: open`
  throw new StoreFault(
    `${which}, but no work is queued: nothing can happen by itself. See \`assay audit verify\`; \`assay overrule\` decides a task, \`assay reset\` puts everything away`,
  )
}
