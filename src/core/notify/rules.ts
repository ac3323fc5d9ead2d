import type { Config } from '../../contract/config/config.ts'
import { durationMs } from '../../contract/config/duration.ts'
import type { NotifyRule } from '../../contract/config/notify.ts'
import { slugOf } from '../mission/ids.ts'
import { severities, severityOf } from './meaning.ts'
import type { ToldEvent } from './note.ts'

export interface Target {
  channel: string
  /** Least time between two tellings of this event about this thing on this channel. */
  cooldownMs: number
}

export type NotifyConfig = Pick<Config, 'notify' | 'sla'>

/** False where nothing could be told of any event: the outbox then costs nothing. */
export function tellsAnything({ notify, sla }: NotifyConfig): boolean {
  return notify.rules.length > 0 || sla.warningChannels.length > 0 || sla.violationChannels.length > 0
}

/** Channels that are told of an event, each once, with the shortest of the cooldowns that apply. `gateChannels` are those of the gate that it is about. */
export function targetsOf(
  event: Pick<ToldEvent, 'type' | 'data'>,
  mission: string,
  config: NotifyConfig,
  gateChannels: readonly string[],
): Target[] {
  if (!isTold(event.type)) return []
  const cooldowns = new Map<string, number>()
  const add = (channels: readonly string[], cooldownMs: number) => {
    for (const channel of channels) cooldowns.set(channel, Math.min(cooldownMs, cooldowns.get(channel) ?? cooldownMs))
  }
  for (const rule of config.notify.rules) if (matches(rule, event, mission)) add(rule.channels, durationMs(rule.cooldown))
  if (event.type === 'quality.gate.passed' || event.type === 'quality.gate.failed') add(gateChannels, 0)
  if (event.type === 'sla.warning') add(config.sla.warningChannels, 0)
  if (event.type === 'sla.violated') add(config.sla.violationChannels, 0)
  return [...cooldowns].map(([channel, cooldownMs]) => ({ channel, cooldownMs }))
}

function matches(rule: NotifyRule, { type, data }: Pick<ToldEvent, 'type' | 'data'>, mission: string): boolean {
  if (!rule.events.some((pattern) => fitsPattern(pattern, type))) return false
  if (rule.missions && !rule.missions.some((name) => isRunOf(mission, name))) return false
  if (rule.severity === undefined) return true
  const severity = severityOf(type, (data ?? {}) as Record<string, unknown>)
  return severities.indexOf(severity) >= severities.indexOf(rule.severity)
}

/** Deliveries are not told of: that would never end. */
export const isTold = (type: string): boolean => !type.startsWith('notification.')

/** `*` is every event, `noun.*` everything below the noun, anything else one event. */
export function fitsPattern(pattern: string, type: string): boolean {
  if (pattern === '*') return true
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type
}

/** Runs of a mission are its name as a slug and a number. */
function isRunOf(mission: string, name: string): boolean {
  if (mission === name) return true
  const slug = slugOf(name)
  return mission.startsWith(`${slug}-`) && /^\d+$/.test(mission.slice(slug.length + 1))
}
