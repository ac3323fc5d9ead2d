import type { Result } from '../../contract/errors.ts'
import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'
import { readEvent } from '../../contract/events/read.ts'
import { type DeliverableState, evolveDeliverable, type MaybeDeliverable } from '../../core/gate/deliverable.ts'
import type { MaybeTask } from '../../core/task/state.ts'
import { notificationsOf } from '../notify/outbox.ts'
import type { EngineParts } from '../parts.ts'
import { deliverableStream, taskStream } from '../streams.ts'
import { asNew } from '../task/task-store.ts'

/** How often a command is decided anew because another writer was first. */
export const maxTries = 25

interface LoadedDeliverable {
  state: MaybeDeliverable
  version: number
}

/** Most deliverables of a journal that are kept; those that were not asked for longest go first. */
const mostKept = 200
const loaded = new WeakMap<EngineParts['journal'], Map<string, LoadedDeliverable>>()

/** Every look of the gate adds an event: only those are read that came since the last. */
export async function loadDeliverable({ journal }: Pick<EngineParts, 'journal'>, deliverable: string): Promise<LoadedDeliverable> {
  const kept = loaded.get(journal) ?? new Map<string, LoadedDeliverable>()
  loaded.set(journal, kept)
  const { state, version } = kept.get(deliverable) ?? { state: undefined, version: 0 }
  const events = await journal.readStream(deliverableStream(deliverable), version)
  const now = { state: events.map(readEvent).reduce<MaybeDeliverable>(evolveDeliverable, state), version: version + events.length }
  // Of two reads that overlap, the later to end may be the older.
  const newest = (kept.get(deliverable)?.version ?? 0) > now.version ? (kept.get(deliverable) ?? now) : now
  kept.delete(deliverable)
  if (newest.version > 0) kept.set(deliverable, newest)
  for (const oldest of kept.keys()) if (kept.size > mostKept) kept.delete(oldest)
  return newest
}

/** What a task that has failed was given up for, in the words of the event; undefined for any other. */
export async function givenUpFor({ journal }: Pick<EngineParts, 'journal'>, task: MaybeTask): Promise<string | undefined> {
  if (task?.status !== 'failed') return undefined
  const failed = (await journal.readStream(taskStream(task.spec.id))).findLast(({ type }) => type === 'task.failed')
  return failed && (failed.data as EventData<'task.failed'>).reason
}

/** Load, decide, append; again if another process was first. */
export async function handleDeliverable(
  parts: EngineParts,
  deliverable: string,
  actor: string,
  decide: (state: MaybeDeliverable) => Result<AssayEvent[]>,
): Promise<Result<{ state: DeliverableState; events: AssayEvent[] }>> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { state, version } = await loadDeliverable(parts, deliverable)
    const decided = decide(state)
    if (!decided.ok) return decided
    const after = decided.value.reduce<MaybeDeliverable>(evolveDeliverable, state)
    if (!after) throw new Error(`a decision on ${deliverable} left no deliverable`)
    if (decided.value.length === 0) return { ok: true, value: { state: after, events: [] } }
    const at = new Date(parts.clock.now()).toISOString()
    const streams = [{ stream: deliverableStream(deliverable), expected: version, events: decided.value.map(asNew) }]
    const appended = await parts.journal.append({ streams, meta: { at, actor }, enqueue: notificationsOf(streams, at, parts.config) })
    if (appended.ok) return { ok: true, value: { state: after, events: decided.value } }
  }
  return { ok: false, error: { code: 'wrong_status', message: `other writers were first ${maxTries} times in a row` } }
}
