import { Duration, durationMs } from '../../../contract/config/duration.ts'
import type { Result } from '../../../contract/errors.ts'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import { eventSchemas } from '../../../contract/events/manifest.ts'
import type { ConfigFlags } from '../project.ts'
import { agentsOf, groupOf, groups, isAbout } from './kinds.ts'

export interface AuditFlags extends ConfigFlags {
  task?: string
  deliverable?: string
  agent?: string
  kind?: string
  since?: string
  until?: string
  format?: string
  all?: boolean
  follow?: boolean
}

export type Wanted = (event: StoredEvent) => boolean

/** The events that somebody asked for; what cannot be understood is refused, not taken for "everything". */
export function filterOf(flags: AuditFlags, now: number): Result<Wanted, string> {
  const since = timeOf(flags.since, now)
  const until = timeOf(flags.until, now)
  if (since === null || until === null)
    return { ok: false, error: '--since and --until take a time (2026-11-16 or 2026-11-16T05:00:00Z) or how long ago (24h, 7d)' }
  const { kind } = flags
  if (kind !== undefined && !isKind(kind))
    return { ok: false, error: `${kind} is no kind of event; there are ${groups.join(', ')}, and events such as verdict.recorded` }
  return {
    ok: true,
    value: (event) => {
      const group = groupOf(event.type)
      if (kind !== undefined ? event.type !== kind && group !== kind : flags.all !== true && group === undefined) return false
      const at = Date.parse(event.meta.at)
      if ((since !== undefined && at < since) || (until !== undefined && at > until)) return false
      if (flags.task !== undefined && !isAbout(event, 'task', flags.task)) return false
      if (flags.deliverable !== undefined && !isAbout(event, 'deliverable', flags.deliverable)) return false
      return flags.agent === undefined || agentsOf(event).has(flags.agent)
    },
  }
}

function isKind(kind: string): boolean {
  return (groups as readonly string[]).includes(kind) || kind in eventSchemas || groupOf(kind) !== undefined
}

/** Epoch milliseconds; null where it is no time. */
function timeOf(text: string | undefined, now: number): number | null | undefined {
  if (text === undefined) return undefined
  if (Duration.safeParse(text).success) return now - durationMs(text)
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : at
}
