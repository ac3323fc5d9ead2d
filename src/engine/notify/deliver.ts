import type { Config } from '../../contract/config/config.ts'
import type { EventMeta } from '../../contract/events/envelope.ts'
import type { AssayEvent, EventData } from '../../contract/events/manifest.ts'
import type { Lease } from '../../contract/work.ts'
import { plainLine } from '../../core/notify/bounded.ts'
import { messageOf } from '../../core/notify/message.ts'
import { type Note, noteOf } from '../../core/notify/note.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Journal } from '../../ports/journal.ts'
import type { Notifier, OpenNotifier, Sent } from '../../ports/notifier.ts'
import { untrueProblem } from '../audit/queue/telling.ts'
import { asNew } from '../task/task-store.ts'
import { cooldownKey, cooldownStream, deliveryStream } from './names.ts'
import { NotifyPayload } from './outbox.ts'
import { type CooldownRow, cooldownsView } from './views.ts'

/** What a delivery needs of the engine. */
export interface DeliveryParts {
  config: Pick<Config, 'notify'>
  journal: Journal
  clock: Pick<Clock, 'now'>
  openNotifier: OpenNotifier
}

/** Pauses double from the first to the longest: with ten retries about 70 minutes, so that an hour's outage loses nothing. */
const firstPauseMs = 5_000
const longestPauseMs = 30 * 60_000
/** Whatever a channel does, a try ends after this. */
const maxTryMs = 60_000
/** How often a cooldown is looked at again because another process moved it. */
const maxLooks = 10

export function pauseAfter(tries: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(tries - 1, 30))
}

/**
 * Runs one `notify` work: sends, and records how it ended. One that tells nothing that an event says was put there by hand: it is never sent. At least once: a crash after sending sends again, under the same id.
 * What fails for the moment is given back with a growing pause; what cannot succeed, or failed too often, becomes a dead letter.
 */
export async function deliverNotification({ parts }: { parts: DeliveryParts }, lease: Lease, signal: AbortSignal): Promise<void> {
  const { journal, config } = parts
  const untrue = await untrueProblem(journal, lease)
  if (untrue !== undefined) return drop(parts, lease, untrue)
  const { event, mission, channel, cooldownMs } = NotifyPayload.parse(lease.payload) as NotifyPayload & { event: { data: unknown } }
  const note = noteOf(event, mission)
  const delivery: Delivery = { parts, lease, note, channel }
  // Told already: somebody put it into the queue again.
  if (await isDelivered(delivery)) return void (await journal.complete(lease))
  const settings = Object.hasOwn(config.notify.channels, channel) ? config.notify.channels[channel] : undefined
  if (!settings) return giveUp(delivery, 'the configuration declares no such channel')
  // An alert that is never ended by its own event would stand for ever.
  const mayMute = cooldownMs > 0 && !(settings.kind === 'pagerduty' && note.incident?.action === 'resolve')
  if (mayMute && !(await beginTelling(delivery, cooldownMs))) return void (await journal.complete(lease))
  const message = messageOf(note, settings.kind, await sourceOf(journal))
  const sent = await trySending(
    () => parts.openNotifier(settings),
    (notifier, within) => notifier.send(message, within),
    signal,
  )
  if (sent.ok) return record(delivery, { type: 'notification.delivered', data: { ...told(delivery), tries: triesOf(lease) } })
  if (signal.aborted) return void (await journal.release(lease, 0))
  if (!sent.retry || triesOf(lease) > config.notify.maxRetries) return giveUp(delivery, sent.detail)
  await journal.release(lease, Math.min(longestPauseMs, Math.max(pauseAfter(triesOf(lease)), sent.afterMs ?? 0)))
}

/** Tries that came to an end, this one included: one that a crash or a stop cut off says nothing about the channel. */
const triesOf = ({ postponed }: Lease): number => postponed + 1

interface Delivery {
  parts: DeliveryParts
  lease: Lease
  note: Note
  channel: string
}

const told = ({ note, channel }: Delivery): EventData<'notification.begun'> => ({
  channel,
  id: note.id,
  event: note.type,
  subject: note.subject,
})

function giveUp(delivery: Delivery, detail: string): Promise<void> {
  return record(delivery, { type: 'notification.failed', data: { ...told(delivery), tries: triesOf(delivery.lease), detail } })
}

async function isDelivered({ parts, note, channel }: Delivery): Promise<boolean> {
  const ends = await parts.journal.readStream(deliveryStream(note.mission, note.id, channel))
  return ends.at(-1)?.type === 'notification.delivered'
}

/** Longest that is written down of what somebody put into the queue. */
const longestForged = 300

/** Puts away what somebody wrote into the queue, and records that; nothing of its text goes anywhere but its names. */
function drop(parts: DeliveryParts, lease: Lease, why: string): Promise<void> {
  const read = NotifyPayload.safeParse(lease.payload)
  const [channel, event] = read.success ? [read.data.channel, read.data.event.type] : ['unknown', 'unknown']
  const id = plainLine(lease.key, longestForged)
  const said = { channel: plainLine(channel, longestForged), id, event: plainLine(event, longestForged), subject: 'queued work' }
  const detail = `not sent: somebody changed the queue by hand (${plainLine(why, longestForged)}). See assay audit verify`
  const failed: AssayEvent = { type: 'notification.failed', data: { ...said, tries: triesOf(lease), detail } }
  return settle(parts, lease, deliveryStream('', lease.key, 'dropped'), failed)
}

async function record({ parts, lease, note, channel }: Delivery, event: AssayEvent): Promise<void> {
  await settle(parts, lease, deliveryStream(note.mission, note.id, channel), event)
}

/** Records the end and completes the work at once. Whoever lost the lease leaves both to the one who has it. */
async function settle(parts: DeliveryParts, lease: Lease, stream: string, event: AssayEvent): Promise<void> {
  const expected = await parts.journal.head(stream)
  const appended = await parts.journal.append({
    streams: [{ stream, expected, events: [asNew(event)] }],
    meta: metaOf(parts),
    settles: lease,
  })
  if (!appended.ok && appended.code === 'version_conflict') await parts.journal.complete(lease)
}

/** True where this telling may go out; its cooldown then runs, for every process and over restarts. False where another told it too short a time ago. */
async function beginTelling(delivery: Delivery, cooldownMs: number): Promise<boolean> {
  const { parts, note, channel } = delivery
  const { journal, clock } = parts
  const key = cooldownKey(channel, note.type, note.subject)
  const stream = cooldownStream(note.mission, key)
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const expected = await journal.head(stream)
    const row = (await journal.viewRow(cooldownsView.name, key)) as CooldownRow | undefined
    if (row?.id === note.id) return true
    // A clock that was put back must not mute for longer than the cooldown.
    const elapsed = row ? Math.abs(clock.now() - Date.parse(row.at)) : Number.POSITIVE_INFINITY
    if (elapsed < cooldownMs) return false
    const events = [asNew({ type: 'notification.begun', data: told(delivery) })]
    const appended = await journal.append({ streams: [{ stream, expected, events }], meta: metaOf(parts) })
    if (appended.ok) return true
  }
  return true
}

/** Names the journal as a URI: by the hash of its first event, which no other journal has. */
async function sourceOf(journal: Journal): Promise<string> {
  const [first] = await journal.read(0, 1)
  return `urn:assay:journal:${first?.hash.slice(0, 16) ?? 'empty'}`
}

function metaOf({ clock }: DeliveryParts): EventMeta {
  return { at: new Date(clock.now()).toISOString(), actor: 'runtime' }
}

/** A channel that throws or never answers is a failed try, never a failed run. Its words are not passed on: they may hold what must not be written down. */
export async function trySending(
  open: () => Promise<Notifier>,
  send: (notifier: Notifier, within: AbortSignal) => Promise<Sent>,
  signal: AbortSignal,
): Promise<Sent> {
  const deadline = AbortSignal.timeout(maxTryMs)
  const within = AbortSignal.any([signal, deadline])
  const ended = new Promise<Sent>((resolve) => {
    within.addEventListener('abort', () => resolve({ ok: false, retry: true, detail: 'the channel did not answer in time' }), {
      once: true,
    })
  })
  try {
    return await Promise.race([ended, open().then((notifier) => send(notifier, within))])
  } catch (error) {
    return { ok: false, retry: true, detail: `the channel failed (${error instanceof Error ? error.name : typeof error})` }
  }
}
