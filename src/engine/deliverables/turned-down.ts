import type { TaskSpec } from '../../contract/task.ts'
import type { Engine } from '../engine.ts'
import { loadDeliverable } from './store.ts'
import { textOrder } from '../../contract/canonical.ts'

/** A rejection of the very same content, under another id. */
export interface TurnedDown {
  deliverable: string
  task: string
  concern: string
  points: string[]
}

/** Deliverables of one producer that are looked at, the newest first. */
const mostLooked = 50
/** Rejections that are told. */
const mostTold = 3

/**
 * Where this content of this producer was judged and rejected, in another task than the one named: a new id and reworded criteria make another question,
 * and whoever answers it is to know the earlier answer.
 */
async function turnedDown(engine: Engine, producer: string, content: string, exceptTask?: string): Promise<TurnedDown[]> {
  const rows = (await engine.deliverables()).filter((row) => row.producer === producer && row.task !== exceptTask)
  rows.sort((one, other) => textOrder(other.at, one.at))
  const found: TurnedDown[] = []
  for (const { deliverable, task } of rows.slice(0, mostLooked)) {
    const decision = (await engine.task(task))?.decided.findLast(({ subject }) => subject.content === content)?.decision
    if (!decision?.graded || decision.outcome !== 'reject') continue
    found.push({ deliverable, task, concern: decision.concern, points: decision.points.map(({ text }) => text) })
    if (found.length === mostTold) break
  }
  return found
}

/** The same for the latest version of a deliverable. */
export async function rejectedElsewhere(engine: Engine, deliverable: string): Promise<TurnedDown[]> {
  const { state } = await loadDeliverable(engine.parts, deliverable)
  return state ? turnedDown(engine, state.producer, state.latest.subject.content, state.latest.task) : []
}

/** The same review with what was found wanting before, for its judges. */
export async function toldOfRejections(engine: Engine, spec: TaskSpec, producer: string, content: string): Promise<TaskSpec> {
  const before = await turnedDown(engine, producer, content)
  if (before.length === 0) return spec
  const told = before.map(({ deliverable, concern, points }) =>
    [`- as ${deliverable}: ${concern}`, ...points.map((point) => `  - asked for then: ${point}`)].join('\n'),
  )
  return {
    ...spec,
    description: `${spec.description}\n\nExactly this content was judged and rejected before. Nothing in it has changed since; say for each point whether it still stands:\n${told.join('\n')}`,
  }
}
