import type { Json } from '../../../contract/canonical.ts'
import { plainLine, plainText } from '../../../core/notify/bounded.ts'
import type { Journal, QueuedWork } from '../../../ports/journal.ts'
import { workKey } from '../../notify/names.ts'
import { NotifyPayload, tellingPriority } from '../../notify/outbox.ts'
import { missionOf } from '../../streams.ts'

/** Longest text that is compared; tellings hold less of each. */
const mostCompared = 4000

const longestName = 60
const misfiled = 'it is filed as no telling of this event is'

/** Why a telling is not one of an event; undefined where it is. To whom it goes is for the configuration, which may have changed since. */
export async function tellingProblem(journal: Journal, { scope, priority, ...told }: QueuedWork): Promise<string | undefined> {
  const problem = await untrueProblem(journal, told)
  if (problem !== undefined) return problem
  return scope === (told.payload as NotifyPayload).mission && priority === tellingPriority ? undefined : misfiled
}

/** Why what is about to be told is not what an event says; undefined where it is. */
export async function untrueProblem(
  journal: Pick<Journal, 'readStream'>,
  { key, payload }: Pick<QueuedWork, 'key' | 'payload'>,
): Promise<string | undefined> {
  const read = NotifyPayload.safeParse(payload)
  if (!read.success) return 'it does not say what is to be told'
  const { event, mission, channel } = read.data
  const [stored] = event.version < 1 ? [] : await journal.readStream(event.stream, event.version - 1)
  const what = plainLine(event.type, longestName)
  if (stored?.type !== event.type || stored.meta.at !== event.at) return `it tells of ${what}, which the journal does not have`
  if (!isCutOf(event.data, stored.data)) return `it tells of ${what} something else than the journal`
  return key === workKey(`${event.stream}@${event.version}`, channel) && mission === (missionOf(event.stream) ?? '') ? undefined : misfiled
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
