import { canonicalJson, sha256Hex } from '../../contract/canonical.ts'

const digest = (...parts: string[]): string => sha256Hex(canonicalJson(parts)).slice(0, 32)

/** Where the fate of one telling is recorded; its own stream, so that deliveries do not get in each other's way. */
export const deliveryStream = (mission: string, id: string, channel: string): string => `${deliveriesOf(mission)}${digest(id, channel)}`
export const deliveriesOf = (mission: string): string => `notify/${mission}/`

/** Names the cooldown that an event about a thing has on a channel. */
export const cooldownKey = (channel: string, event: string, subject: string): string => digest(channel, event, subject)
export const cooldownStream = (mission: string, key: string): string => `notify/${mission}/cooldown-${key}`

const maxName = 900
/** The same event on the same channel is the same work. */
export function workKey(id: string, channel: string): string {
  const key = `${id}:notify:${channel}`
  return key.length <= maxName ? key : `notify:${digest(id, channel)}`
}
