import { type Json, sha256Hex } from '../../contract/canonical.ts'
import { type EventType, versionOf } from '../../contract/events/manifest.ts'
import { cut, plainLine } from './bounded.ts'
import type { Incident } from './meaning.ts'
import type { Note } from './note.ts'

/** CloudEvents 1.0, structured. `source` names the journal, `id` the event in it: together they are unique, and the same over retries. */
export function cloudEvent(note: Note, source: string): Json {
  return {
    specversion: '1.0',
    id: note.id,
    source,
    type: `dev.assay.${note.type}.v${versionOf(note.type as EventType)}`,
    subject: note.subject,
    time: note.at,
    datacontenttype: 'application/json',
    severity: note.severity,
    summary: plainLine(note.text === '' ? note.title : `${note.title}. ${note.text}`, 300),
    ...(note.mission !== '' && { mission: note.mission }),
    data: note.data,
  }
}

const slackLimits = { fallback: 2000, header: 150, section: 2900, field: 400, fields: 10 }

/** Block Kit within its limits (50 blocks, 3000 characters a section, about 13,000 in all). Plain text throughout: nobody's words become a mention or a link. */
export function slackMessage(note: Note): Json {
  const plain = (text: string, most: number) => ({ type: 'plain_text', text: slackText(text, most), emoji: false })
  const { section, field, fields, header, fallback } = slackLimits
  const told = note.fields.slice(0, fields)
  return {
    text: slackText(`[${note.severity}] ${note.title}${note.text === '' ? '' : `: ${note.text}`}`, fallback),
    mrkdwn: false,
    blocks: [
      { type: 'header', text: plain(note.title, header) },
      ...(note.text === '' ? [] : [{ type: 'section', text: plain(note.text, section) }]),
      ...(told.length === 0 ? [] : [{ type: 'section', fields: told.map(({ name, value }) => plain(`${name}: ${value}`, field)) }]),
      { type: 'context', elements: [plain(`${note.severity} · ${note.type} · ${note.id}`, field)] },
    ],
  }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escaped as Slack asks, and cut so that no entity is broken. */
function slackText(text: string, most: number): string {
  let escaped = ''
  for (const character of text) {
    const next = entities[character] ?? character
    if (escaped.length + next.length > most - 1) return `${escaped}…`
    escaped += next
  }
  return escaped
}

/** Events of PagerDuty's Events API v2, without the routing key: one, or one for each alert that ends. An event of no incident is an alert of its own. */
export function pagerdutyEvents(note: Note, source: string): Json[] {
  const incident: Incident = note.incident ?? { action: 'trigger', key: `event:${note.id}` }
  if (incident.action === 'resolve') return incident.keys.map((key) => ({ event_action: 'resolve', dedup_key: dedupKey(source, key) }))
  const details = Object.fromEntries(note.fields.map(({ name, value }) => [name, value]))
  return [
    {
      event_action: 'trigger',
      dedup_key: dedupKey(source, incident.key),
      client: 'Assay',
      payload: {
        summary: cut(note.text === '' ? note.title : `${note.title}: ${note.text}`, 1024),
        source,
        severity: note.severity,
        timestamp: note.at,
        component: cut(note.subject, 255),
        ...(note.mission !== '' && { group: cut(note.mission, 255) }),
        class: note.type,
        custom_details: { ...details, event: note.id },
      },
    },
  ]
}

/** At most 255 characters; a longer one by its hash. */
function dedupKey(source: string, key: string): string {
  const whole = `${source}/${key}`
  return whole.length <= 255 ? whole : `${source}/${sha256Hex(key)}`
}

/** A letter: what happened, why, the figures, and where to look it up. */
export function letterText(note: Note): string {
  const fields = note.fields.map(({ name, value }) => `${name}: ${value}`)
  const parts = [note.title, note.text, fields.join('\n'), `${note.severity} · ${note.type} · ${note.id} · ${note.at}`]
  return parts.filter((part) => part !== '').join('\n\n')
}
