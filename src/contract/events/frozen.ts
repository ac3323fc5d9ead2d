import { z } from 'zod'
import { digestOf } from '../canonical.ts'
import { type EventType, eventSchemas, versionOf } from './manifest.ts'

/** Version and shape of one event. */
export interface FrozenEvent {
  v: number
  shape: string
}

/** Name, version and a digest of the shape of every event, as they are now; a committed copy says how they were. */
export function eventTable(): Record<string, FrozenEvent> {
  const types = (Object.keys(eventSchemas) as EventType[]).sort()
  return Object.fromEntries(types.map((type) => [type, { v: versionOf(type), shape: shapeOf(type) }]))
}

function shapeOf(type: EventType): string {
  return digestOf(z.toJSONSchema(eventSchemas[type], { io: 'input' })).slice('sha256:'.length, 'sha256:'.length + 16)
}
