import { z } from 'zod'
import type { NewWork } from '../../contract/work.ts'
import { boundedData } from '../../core/notify/bounded.ts'
import type { ToldEvent } from '../../core/notify/note.ts'
import { type NotifyConfig, targetsOf, tellsAnything } from '../../core/notify/rules.ts'
import type { StreamAppend } from '../../ports/journal.ts'
import { missionOf } from '../streams.ts'
import { workKey } from './names.ts'

/** What a delivery needs to know; the event's data is bounded before it is queued. */
export const NotifyPayload = z.strictObject({
  event: z.strictObject({ stream: z.string(), version: z.int(), type: z.string(), data: z.unknown(), at: z.string() }),
  mission: z.string(),
  channel: z.string(),
  cooldownMs: z.number().nonnegative(),
})
export type NotifyPayload = z.infer<typeof NotifyPayload>

/** Notifications go out in the order of their events. */
export const tellingPriority = 0

/**
 * The tellings that events call for, to be enqueued with their append. Pure: the same events give the same work, which a repeated append does not enqueue twice.
 * `gateChannels` are the `notifyChannels` of the gate whose events these are.
 */
export function notificationsFor(events: readonly ToldEvent[], config: NotifyConfig, gateChannels: readonly string[] = []): NewWork[] {
  if (gateChannels.length === 0 && !tellsAnything(config)) return []
  const work: NewWork[] = []
  for (const { stream, version, type, data, at } of events) {
    const mission = missionOf(stream) ?? ''
    const targets = targetsOf({ type, data }, mission, config, gateChannels)
    if (targets.length === 0) continue
    const event: ToldEvent = { stream, version, type, data: boundedData(data), at }
    for (const { channel, cooldownMs } of targets) {
      const payload: NotifyPayload = { event, mission, channel, cooldownMs }
      work.push({ key: workKey(`${stream}@${version}`, channel), kind: 'notify', scope: mission, priority: tellingPriority, payload })
    }
  }
  return work
}

/** The tellings that an append calls for, all of its streams together. */
export function notificationsOf(
  streams: readonly StreamAppend[],
  at: string,
  config: NotifyConfig,
  gateChannels?: readonly string[],
): NewWork[] {
  const events = streams.flatMap(({ stream, expected, events: appended }) =>
    appended.map(({ type, data }, index): ToldEvent => ({ stream, version: expected + 1 + index, type, data, at })),
  )
  return notificationsFor(events, config, gateChannels)
}
