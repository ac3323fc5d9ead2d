import type { z } from 'zod'
import { attemptEvents } from './attempt.ts'
import { deliverableEvents } from './people/deliverable.ts'
import { gateEvents } from './gate.ts'
import { mergeEvents } from './merge.ts'
import { missionEvents } from './mission.ts'
import { notifyEvents } from './people/notify.ts'
import { reviewEvents } from './review.ts'
import { sessionEvents } from './people/session.ts'
import { slaEvents } from './sla.ts'
import { taskEvents } from './task.ts'

/** Every event there is, with the schema of its current version. A test freezes names, versions and shapes. */
export const eventSchemas = {
  ...taskEvents,
  ...attemptEvents,
  ...reviewEvents,
  ...mergeEvents,
  ...gateEvents,
  ...slaEvents,
  ...missionEvents,
  ...notifyEvents,
  ...deliverableEvents,
  ...sessionEvents,
}

export type EventType = keyof typeof eventSchemas
export type EventData<T extends EventType> = z.infer<(typeof eventSchemas)[T]>

/** An event as the core sees it: type and data, nothing of storage. */
export type AssayEvent = { [T in EventType]: { type: T; data: EventData<T> } }[EventType]
export type EventOf<T extends EventType> = Extract<AssayEvent, { type: T }>

/** Current version of each event's shape; 1 unless listed. */
export const eventVersions: Partial<Record<EventType, number>> = {}

export function versionOf(type: EventType): number {
  return eventVersions[type] ?? 1
}
