import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { EventData } from '../../../contract/events/manifest.ts'
import { readEvent } from '../../../contract/events/read.ts'
import { evolveAll } from '../../../core/task/evolve/evolve.ts'
import type { TaskState } from '../../../core/task/state.ts'
import type { Journal } from '../../../ports/journal.ts'
import { taskOf, taskStream } from '../../streams.ts'
import { latestCalled, type Lost } from './again.ts'

/** The task whose case, in this event, proposes further tasks. */
export function proposingTask({ type, stream, data }: StoredEvent): string | undefined {
  if (type !== 'case.submitted') return undefined
  const { delegations } = (data as EventData<'case.submitted'>).case
  return (delegations ?? []).length > 0 ? taskOf(stream) : undefined
}

/** Of these tasks those that were accepted with proposals that nobody has handed on, and no work that would. Changes nothing. */
export async function lostFanOuts(journal: Journal, tasks: readonly string[]): Promise<Lost[]> {
  const found: Lost[] = []
  for (const task of new Set(tasks)) {
    const stream = taskStream(task)
    const events = await journal.readStream(stream)
    const state = evolveAll(undefined, events.map(readEvent))
    if (!state || !isDue(state)) continue
    const isQueued = (await journal.queued()).some(
      ({ kind, payload }) => kind === 'fan_out' && (payload as { task?: unknown } | null)?.task === task,
    )
    if (isQueued || (await journal.head(stream)) !== events.length) continue
    const problem = 'the task is done, but what it proposed was not handed on and the queue has no work for that (fan_out)'
    const link = { stream, version: events.length, position: events.at(-1)?.position ?? null, problem }
    found.push({ link, again: latestCalled(events, 'fan_out') })
  }
  return found
}

function isDue({ status, done, fannedOut, spec, current }: TaskState): boolean {
  const { content, flag } = done ?? {}
  if (status !== 'done' || !content || flag === 'below-threshold' || spec.mission === undefined) return false
  return (current?.case?.delegations ?? []).length > 0 && !fannedOut.includes(content)
}
