import { sha256Hex } from '../../../contract/canonical.ts'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { EventData } from '../../../contract/events/manifest.ts'
import { readEvent } from '../../../contract/events/read.ts'
import { evolveAll } from '../../../core/task/evolve/evolve.ts'
import type { Journal } from '../../../ports/journal.ts'
import { cardStream, taskStream } from '../../streams.ts'
import { latestCalled, type Lost } from './again.ts'
import { workCalledFor } from './batches.ts'

/** The task that an event creates, where its ending is shown to the owner on a card. */
export function handsOverTask({ type, data }: StoredEvent): string | undefined {
  if (type !== 'task.created') return undefined
  const { spec } = data as EventData<'task.created'>
  return spec.deliverable !== undefined && spec.outside !== true ? spec.id : undefined
}

const endings = new Set(['task.accepted', 'task.force_accepted', 'task.failed'])

/** Of these tasks those that have ended without a card for their owner, and without work that would make one. Changes nothing. */
export async function lostCards(journal: Journal, tasks: readonly string[]): Promise<Lost[]> {
  const found: Lost[] = []
  for (const task of tasks) {
    const stream = taskStream(task)
    const events = await journal.readStream(stream)
    const version = events.findLastIndex(({ type }) => endings.has(type)) + 1
    const state = version > 0 ? evolveAll(undefined, events.map(readEvent)) : undefined
    const hasEnded = state?.status === 'failed' || (state?.status === 'done' && state.done?.content)
    if (!hasEnded || (await isShown(journal, events, version)) || (await isQueued(journal, task))) continue
    // Between the two looks the work may have become a card.
    if ((await isShown(journal, events, version)) || (await journal.head(stream)) !== events.length) continue
    const problem = `the task is ${state?.status}, but its owner has no card of it and the queue has no work for one (hand_over)`
    const link = { stream, version: events.length, position: events[version - 1]?.position ?? null, problem }
    found.push({ link, again: latestCalled(events.slice(0, version), 'hand_over') })
  }
  return found
}

/** Cards are named after the work that makes them. */
async function isShown(journal: Journal, events: readonly StoredEvent[], version: number): Promise<boolean> {
  for (const { kind, key } of workCalledFor(events, version)) {
    const card = sha256Hex(key).slice(0, 24)
    if (kind !== 'hand_over') continue
    for (const name of [card, `${card}-refused`]) if ((await journal.head(cardStream(name))) > 0) return true
  }
  return false
}

async function isQueued(journal: Journal, task: string): Promise<boolean> {
  return (await journal.queued()).some(({ kind, payload }) => kind === 'hand_over' && (payload as { task?: unknown } | null)?.task === task)
}
