import type { BrokenLink } from '../../../contract/chain.ts'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { NewWork, WorkKind } from '../../../contract/work.ts'
import type { Journal } from '../../../ports/journal.ts'
import { workCalledFor } from './batches.ts'

/** Work that events have called for, that is not done, and that the queue does not have. */
export interface Lost {
  link: BrokenLink
  /** The same work, as it was called for. */
  again: NewWork[]
}

/** The work of a kind that the latest events of a task call for; of several pieces each once. */
export function latestCalled(events: readonly StoredEvent[], kind: WorkKind): NewWork[] {
  for (let version = events.length; version > 0; version -= 1) {
    const called = new Map<string, NewWork>()
    for (const work of workCalledFor(events, version))
      if (work.kind === kind && work.key.includes(`@${version}:${kind}`)) called.set(JSON.stringify(work.payload), withoutDelay(work))
    if (called.size > 0 && kind !== 'ask_judge') return [...called.values()].slice(-1)
    if (called.size > 0) return [...called.values()]
  }
  return []
}

/** What is lost has waited long enough. */
function withoutDelay({ delayMs: _waited, ...work }: NewWork): NewWork {
  return work
}

/** Queues lost work again where nothing has moved since it was looked for. Doing it twice does no harm: all work can be repeated. Returns what was queued. */
export async function queueAgain(journal: Journal, lost: readonly Lost[], at: string): Promise<BrokenLink[]> {
  const queued: BrokenLink[] = []
  for (const { link, again } of lost) {
    if (again.length === 0) continue
    const streams = [{ stream: link.stream, expected: link.version, events: [] }]
    const appended = await journal.append({ streams, meta: { at, actor: 'runtime' }, enqueue: again })
    if (appended.ok) queued.push(link)
  }
  return queued
}
