import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { AssayEvent } from '../../../contract/events/manifest.ts'
import { readEvent } from '../../../contract/events/read.ts'
import type { NewWork } from '../../../contract/work.ts'
import { evolveAll } from '../../../core/task/evolve/evolve.ts'
import type { MaybeTask } from '../../../core/task/state.ts'
import { reactions } from '../../task/reactions.ts'

/** Longest decision that is looked for. */
const longestBatch = 200

/**
 * The work that the decision around one version of a task's stream may have called for. Which events were appended together is not recorded: those of
 * one decision have one time and one actor, and every way to cut such a row of events is tried.
 */
export function* workCalledFor(stored: readonly StoredEvent[], version: number): Generator<NewWork> {
  const { from, to } = together(stored, version)
  const events = stored.slice(0, to).map(readEvent)
  const states: MaybeTask[] = []
  for (let end = version; end <= to; end += 1) {
    const before = states.at(-1)
    const fresh = before === undefined ? events.slice(0, end) : events.slice(end - 1, end)
    const after = evolveAll(before, fresh)
    states.push(after)
    if (after) for (let first = version; first >= from; first -= 1) yield* reactions(batchOf(events, first, end), first, after)
  }
}

const batchOf = (events: readonly AssayEvent[], first: number, end: number): AssayEvent[] => events.slice(first - 1, end)

/** First and last version of the events around one that have its time and its actor. */
function together(stored: readonly StoredEvent[], version: number): { from: number; to: number } {
  const meta = stored[version - 1]?.meta
  const isSame = (other: number) => stored[other - 1]?.meta.at === meta?.at && stored[other - 1]?.meta.actor === meta?.actor
  let [from, to] = [version, version]
  while (from > 1 && version - from < longestBatch && isSame(from - 1)) from -= 1
  while (to < stored.length && to - version < longestBatch && isSame(to + 1)) to += 1
  return { from, to }
}
