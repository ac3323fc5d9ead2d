import type { Json } from '../../../contract/canonical.ts'
import { plainLine, plainText } from '../../../core/notify/bounded.ts'
import type { Journal, QueuedWork } from '../../../ports/journal.ts'
import { workKey } from '../../notify/names.ts'
import { NotifyPayload, tellingPriority } from '../../notify/outbox.ts'
import { missionOf } from '../../streams.ts'

/** Longest text that is compared; tellings hold less of each. */
const mostCompared = 4000

/** Why a telling is not one of an event; undefined where it is. To whom it goes is for the configuration, which may have changed since. */
export async function tellingProblem(journal: Journal, { key, scope, priority, payload }: QueuedWork): Promise<string | undefined> {
  const read = NotifyPayload.safeParse(payload)
  if (!read.success) return 'it does not say what is to be told'
  const { event, mission, channel } = read.data
  const [stored] = event.version < 1 ? [] : await journal.readStream(event.stream, event.version - 1)
  if (stored?.type !== event.type || stored.meta.at !== event.at) return `it tells of ${event.type}, which the journal does not have`
  if (!isCutOf(event.data, stored.data)) return `it tells of ${event.type} something else than the journal`
  const isFiled = key === workKey(`${event.stream}@${event.version}`, channel) && mission === (missionOf(event.stream) ?? '')
  return isFiled && scope === mission && priority === tellingPriority ? undefined : 'it is filed as no telling of this event is'
}

/** Whether what is told of an event is what the event says, but for texts, lists and depths that were cut. */
function isCutOf(told: unknown, said: unknown): boolean {
  if (told === '…') return true
  if (typeof said === 'string') {
    if (typeof told !== 'string') return false
    const whole = plainText(said, mostCompared)
    return told === whole || (told.endsWith('…') && whole.startsWith(told.slice(0, -1)))
  }
  if (Array.isArray(said)) return Array.isArray(told) && told.length <= said.length && told.every((one, at) => isCutOf(one, said[at]))
  if (typeof said !== 'object' || said === null) return told === said || (told === null && said === undefined)
  if (typeof told !== 'object' || told === null || Array.isArray(told)) return false
  const members = new Map(Object.entries(said).map(([key, member]) => [plainLine(key, 100), member as Json]))
  return Object.entries(told).every(([key, member]) => members.has(key) && isCutOf(member, members.get(key)))
}
