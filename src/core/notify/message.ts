import { type Json, sha256Hex } from '../../contract/canonical.ts'
import type { Channel } from '../../contract/config/notify.ts'
import type { Message } from '../../contract/notify/message.ts'
import { plainText } from './bounded.ts'
import { cloudEvent, letterText, pagerdutyEvents, slackMessage } from './forms.ts'
import type { Note } from './note.ts'

/** The message that a channel of this kind is handed. `source` names the journal as a URI. */
export function messageOf(note: Note, kind: Channel['kind'], source: string): Message {
  return {
    id: `msg_${sha256Hex(`${source}\n${note.id}`).slice(0, 40)}`,
    severity: note.severity,
    title: note.title,
    text: kind === 'email' ? letterText(note) : kind === 'desktop' ? plainText(note.text, 300) : note.text,
    body: bodyOf(note, kind, source),
  }
}

function bodyOf(note: Note, kind: Channel['kind'], source: string): Json {
  if (kind === 'webhook') return cloudEvent(note, source)
  if (kind === 'slack') return slackMessage(note)
  return kind === 'pagerduty' ? pagerdutyEvents(note, source) : null
}
