import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { EventData } from '../../../contract/events/manifest.ts'
import type { NewWork } from '../../../contract/work.ts'
import { boundedData } from '../../../core/notify/bounded.ts'
import type { Journal } from '../../../ports/journal.ts'
import { deliveryStream, workKey } from '../../notify/names.ts'
import { type NotifyPayload, tellingPriority } from '../../notify/outbox.ts'
import { missionOf } from '../../streams.ts'
import type { Lost } from './again.ts'

/** A telling that was begun: what it tells, as `stream@version`, on which channel, and where that is recorded. */
interface Begun {
  id: string
  channel: string
  stream: string
}

/** Tellings that were begun and have not ended, gathered from all events in their order. */
export class BegunTellings {
  readonly open = new Map<string, Begun>()

  feed({ type, data, stream }: StoredEvent): void {
    if (type !== 'notification.begun' && type !== 'notification.delivered' && type !== 'notification.failed') return
    const { id, channel } = data as EventData<'notification.begun'>
    const key = workKey(id, channel)
    if (type === 'notification.begun') this.open.set(key, { id, channel, stream })
    else this.open.delete(key)
  }
}

/** Of these those that the queue does not have any more: nobody would ever be told. Changes nothing. */
export async function lostTellings(journal: Journal, { open }: BegunTellings): Promise<Lost[]> {
  if (open.size === 0) return []
  const queued = new Set((await journal.queued()).map(({ key }) => key))
  const found: Lost[] = []
  for (const [key, { id, channel, stream }] of open) {
    if (queued.has(key)) continue
    const at = id.lastIndexOf('@')
    const [told] = await journal.readStream(id.slice(0, at), Number(id.slice(at + 1)) - 1)
    // It may have ended since.
    if (!told || (await journal.head(deliveryStream(missionOf(told.stream) ?? '', id, channel))) > 0) continue
    const problem = `the telling of ${id} on ${channel} was begun, but has not ended and is not in the queue (notify)`
    const link = { stream, version: await journal.head(stream), position: told.position, problem }
    found.push({ link, again: [tellingAgain(key, told, channel)] })
  }
  return found
}

/** Its cooldown runs already. */
function tellingAgain(key: string, { stream, version, type, data, meta }: StoredEvent, channel: string): NewWork {
  const mission = missionOf(stream) ?? ''
  const event = { stream, version, type, data: boundedData(data), at: meta.at }
  const payload: NotifyPayload = { event, mission, channel, cooldownMs: 0 }
  return { key, kind: 'notify', scope: mission, priority: tellingPriority, payload }
}
