import { isInstant, parseDuration } from '../../contract/config/duration.ts'
import type { AssayEvent } from '../../contract/events/manifest.ts'

/** What is known of an entity with a deadline. Times are epoch milliseconds. */
export interface Watched {
  entityId: string
  entityType: 'task' | 'mission'
  /** As written: a duration, or a point in time. */
  written: string
  /** First readiness of a task, start of a mission; a task that never became ready has none. */
  from?: number
  /** When it came to be: a point in time draws nearer from then, whether or not the task is ready. */
  created?: number
  /** When it was done; and whether, and when, it ended without being done. */
  doneAt?: number
  failed: boolean
  failedAt?: number
  warned: boolean
  violated: boolean
  met: boolean
  /** The owner opened it again after its time was up: it is not failed for that a second time. */
  pardoned?: true
}

export interface SlaRules {
  warningThreshold: number
}

/** When the time is up; undefined while it has not begun to run. */
export function deadlineOf({ written, from }: Pick<Watched, 'written' | 'from'>): number | undefined {
  if (isInstant(written)) return Date.parse(written)
  const duration = parseDuration(written)
  return from === undefined || duration === undefined ? undefined : from + duration
}

/**
 * What is to be said of the entity now, and when to look again at the latest. Pure: the same facts and time give the same answer. What is said
 * is in whole milliseconds, however fine the clock is. `wallAhead` is by how much the wall clock, by which points in time go, is ahead of the
 * one that gave the times.
 */
export function lookAt(
  watched: Watched,
  time: number,
  { warningThreshold }: SlaRules,
  wallAhead = 0,
): { events: AssayEvent[]; next?: number } {
  const written = deadlineOf(watched)
  // What was broken stays broken: a clock that was set back makes nothing met.
  if (written === undefined || watched.met || watched.violated) return { events: [] }
  const { entityId, entityType, doneAt, failed, failedAt } = watched
  const now = Math.floor(time)
  const deadline = isInstant(watched.written) ? written - Math.round(wallAhead) : written
  const entity = { entityId, entityType, deadline: new Date(written).toISOString() }
  const violated = (at: number): AssayEvent => ({ type: 'sla.violated', data: { ...entity, overdueMs: at - deadline } })
  // Whatever failed has met nothing; where it did so after its time was up, that was missed too, whoever looks how much later.
  if (failed) return { events: failedAt !== undefined && failedAt > deadline ? [violated(failedAt)] : [] }
  if (doneAt !== undefined) {
    if (doneAt <= deadline) return { events: [{ type: 'sla.met', data: { ...entity, marginMs: deadline - doneAt } }] }
    return { events: [violated(doneAt)] }
  }
  if (now >= deadline) return { events: [violated(now)] }
  const from = watched.from ?? watched.created ?? now
  const warnAt = from + (deadline - from) * warningThreshold
  if (watched.warned || now < warnAt) return { events: [], next: watched.warned ? deadline : warnAt }
  const elapsed = now - from
  const percentUsed = (elapsed * 100) / (deadline - from)
  return { events: [{ type: 'sla.warning', data: { ...entity, elapsed, remaining: deadline - now, percentUsed } }], next: deadline }
}
