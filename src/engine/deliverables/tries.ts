import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import { isAccepted } from '../../core/policy/accepted.ts'
import type { TaskState } from '../../core/task/state.ts'
import type { Engine } from '../engine.ts'
import { type LoadedOwner, loadOwner } from '../policy/owner.ts'
import { deliverableStream } from '../streams.ts'

/** Reviews that are looked back over; whoever has had more of them without a pass has no tries left. */
const mostReviews = 100

/**
 * Tries that a deliverable still has under the policy in force. They are counted over all policies since its last pass under one that the owner
 * stands behind: only a policy that the owner accepted since the last version was brought gives new ones.
 */
export async function triesLeft(engine: Engine, deliverable: string): Promise<number> {
  const { journal, config, rules } = engine.parts
  const all = config.gate.maxRetries + 1
  const events = await journal.readStream(deliverableStream(deliverable))
  const sinceFreed = events.slice(events.findLastIndex(({ type }) => type === 'deliverable.freed') + 1)
  const brought = sinceFreed.filter(({ type }) => type === 'deliverable.submitted')
  const owner = await loadOwner(engine.parts)
  if (acceptedSince(owner, rules.digest, brought.at(-1))) return all
  const tasks = [...new Set(brought.map(({ data }) => (data as EventData<'deliverable.submitted'>).task))].reverse()
  let used = 0
  for (const [index, task] of tasks.entries()) {
    const state = await engine.task(task)
    if (!state || endsCount(state, owner)) break
    if (index === mostReviews) return 0
    used += usedIn(state)
    const earlier = brought[brought.findIndex(({ data }) => (data as EventData<'deliverable.submitted'>).task === task) - 1]
    if (earlier === undefined || acceptedSince(owner, state.policy, earlier)) break
  }
  return Math.max(0, all - used)
}

function acceptedSince({ events }: LoadedOwner, digest: string, version: StoredEvent | undefined): boolean {
  const after = version?.position ?? 0
  return events.some(
    ({ type, data, position }) =>
      type === 'policy.accepted' && position > after && (data as EventData<'policy.accepted'>).digest === digest,
  )
}

/** A pass under a policy that the owner stands behind, or the owner's word: whatever failed before it counts no longer. */
function endsCount({ status, done, policy }: TaskState, { state }: LoadedOwner): boolean {
  if (status !== 'done') return false
  return done?.flag === 'owner-accepted' || (done?.flag === 'clean' && isAccepted(state, policy))
}

/** Tries that failed, or are not decided; what the owner granted on top is not counted against the producer. */
function usedIn({ status, charged, granted }: TaskState): number {
  return Math.max(0, charged - granted - (status === 'done' ? 1 : 0))
}
