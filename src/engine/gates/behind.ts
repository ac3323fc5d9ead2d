import type { AssayEvent } from '../../contract/events/manifest.ts'
import { decide } from '../../core/task/decide.ts'
import type { Rules } from '../../core/task/draft.ts'
import { evolve } from '../../core/task/evolve/evolve.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Journal } from '../../ports/journal.ts'
import { dependentKey } from '../views/tasks.ts'
import { countsNoLonger } from './open-again.ts'

/** A task that was given something that is open again, and what it is told with the decision that opened that. */
export interface Behind {
  before: TaskState
  after: TaskState
  version: number
  events: AssayEvent[]
}

/** What the look behind a task is made with. */
export interface Ground {
  journal: Pick<Journal, 'viewRows'>
  rules: Rules
  load(task: string): Promise<{ state: TaskState | undefined; version: number }>
}

/** Tasks that are held with the one that is opened again, the nearest first; those further behind hear of it from these, one after the other. */
const mostHeld = 10_000

/**
 * Whatever rests on a task that is opened again, directly or through others: work that was finished with it counts no longer, so that whoever was
 * given that, or waits behind a gate that looked at it, does not start before anybody could be told.
 */
export async function heldBehind(ground: Ground, opened: string): Promise<Behind[]> {
  const held = new Map<string, Behind>()
  const walk = [opened]
  for (let at = 0; at < walk.length && held.size < mostHeld; at += 1) {
    const task = walk[at] as string
    for (const dependent of await dependentsOf(ground.journal, task)) {
      if (dependent === opened || (held.size >= mostHeld && !held.has(dependent))) continue
      const known = held.get(dependent)
      const told = known ? tell(ground.rules, known, task) : await tellFirst(ground, dependent, task)
      if (!told) continue
      held.set(dependent, told)
      if (!known && countsNoLonger(told.before, told.after)) walk.push(dependent)
    }
  }
  return [...held.values()]
}

async function tellFirst({ load, rules }: Ground, dependent: string, task: string): Promise<Behind | undefined> {
  const { state, version } = await load(dependent)
  return state && tell(rules, { before: state, after: state, version, events: [] }, task)
}

/** Undefined where it has nothing to hear: it was not given the task, or has ended otherwise, or knows. */
function tell(rules: Rules, { before, after, version, events }: Behind, task: string): Behind | undefined {
  if (!after.inputs.some((input) => input.task === task)) return undefined
  const decided = decide(after, { type: 'input_reopened', task }, rules)
  if (!decided.ok) return undefined
  const then = decided.value.reduce(evolve, after) as TaskState
  return { before, after: then, version, events: [...events, ...decided.value] }
}

/** Rows that are read at a time. */
const page = 1000

/** Ids of the tasks that depend on a task. */
export async function dependentsOf(journal: Pick<Journal, 'viewRows'>, task: string): Promise<string[]> {
  const found: string[] = []
  let afterKey: string | undefined
  do {
    const range = { prefix: dependentKey(task, ''), ...(afterKey !== undefined && { afterKey }), limit: page }
    const rows = await journal.viewRows('dependents', range)
    found.push(...rows.map(({ row }) => (row as { task: string }).task))
    afterKey = rows.length === page ? rows.at(-1)?.key : undefined
  } while (afterKey !== undefined)
  return found
}
