import type { StoredEvent } from './envelope.ts'
import { type AssayEvent, type EventType, eventSchemas, versionOf } from './manifest.ts'

/** The journal holds something that this version of Assay does not know. Skipping it could turn a rejection into silence, so reading stops. */
export class UnknownEvent extends Error {
  constructor(event: StoredEvent, why: string) {
    super(`event ${event.type} (version ${event.v}) at ${event.stream}@${event.version} ${why}; it was written by another version of Assay`)
    this.name = 'UnknownEvent'
  }
}

/** A stored event in its current shape. Older shapes are upgraded here, on read; they are never rewritten. */
export function readEvent(event: StoredEvent): AssayEvent {
  const schema = eventSchemas[event.type as EventType]
  if (!schema) throw new UnknownEvent(event, 'is not known')
  if (event.v !== versionOf(event.type as EventType)) throw new UnknownEvent(event, 'has a shape that is not known')
  const parsed = schema.safeParse(event.data)
  if (!parsed.success) throw new UnknownEvent(event, `does not fit its schema (${parsed.error.issues[0]?.message ?? 'unknown problem'})`)
  return { type: event.type, data: parsed.data } as AssayEvent
}
