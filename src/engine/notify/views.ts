import type { EventData } from '../../contract/events/manifest.ts'
import type { Journal, View } from '../../ports/journal.ts'
import { cooldownKey, deliveriesOf } from './names.ts'

/** When something was last told, and by which event. */
export interface CooldownRow {
  id: string
  at: string
}

/** Cooldowns by channel, event and thing. One that was given up told nobody, so it counts for nothing. */
export const cooldownsView: View<CooldownRow> = {
  name: 'cooldowns',
  keys: (event) => {
    if (event.type !== 'notification.begun' && event.type !== 'notification.failed') return []
    const { channel, event: type, subject } = event.data as EventData<'notification.begun'>
    return [cooldownKey(channel, type, subject)]
  },
  fold: (row, event) => {
    const { id } = event.data as EventData<'notification.begun'>
    if (event.type === 'notification.begun') return { id, at: event.meta.at }
    return row?.id === id ? undefined : row
  },
}

/** A notification that was given up. */
export interface DeadLetter {
  channel: string
  /** The event that nobody was told of, as `stream@version`, and its name. */
  id: string
  event: string
  subject: string
  tries: number
  detail: string
  at: string
}

/** Dead letters by the stream of their telling. */
export const deadLettersView: View<DeadLetter> = {
  name: 'dead_letters',
  keys: (event) => (event.type === 'notification.failed' || event.type === 'notification.delivered' ? [event.stream] : []),
  fold: (_row, event) => {
    if (event.type === 'notification.delivered') return undefined
    return { ...(event.data as EventData<'notification.failed'>), at: event.meta.at }
  },
}

export const notifyViews: View[] = [cooldownsView as View, deadLettersView as View]

const page = 500

/** Notifications that were given up, at most `limit` of them. */
export async function deadLetters(journal: Journal, limit = page): Promise<DeadLetter[]> {
  const rows = await journal.viewRows(deadLettersView.name, { limit })
  return rows.map(({ row }) => row as DeadLetter)
}

/** Notifications of some missions that nobody got. */
export interface Untold {
  waiting: number
  givenUp: number
  /** The last of those that were given up. */
  last?: Pick<DeadLetter, 'channel' | 'detail'>
}

/** What is still to be told of these missions, and what was given up; undefined where there is neither. */
export async function untoldOf(journal: Journal, missions: readonly string[]): Promise<Untold | undefined> {
  const letters: DeadLetter[] = []
  for (const mission of missions) {
    const rows = await journal.viewRows(deadLettersView.name, { prefix: deliveriesOf(mission), limit: page })
    letters.push(...rows.map(({ row }) => row as DeadLetter))
  }
  const { due, leased, later } = await journal.workCount([...missions], ['notify'])
  const waiting = due + leased + later
  if (waiting + letters.length === 0) return undefined
  const last = letters.reduce<DeadLetter | undefined>((newest, one) => (newest && newest.at > one.at ? newest : one), undefined)
  return { waiting, givenUp: letters.length, ...(last && { last: { channel: last.channel, detail: last.detail } }) }
}
