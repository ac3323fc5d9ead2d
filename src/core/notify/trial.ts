import type { Channel } from '../../contract/config/notify.ts'
import type { Message } from '../../contract/notify/message.ts'
import { messageOf } from './message.ts'
import type { Note } from './note.ts'

const source = 'urn:assay:trial'

/** The message of `assay notify test`. An alert that it raises, it ends. */
export function trialMessage(name: string, kind: Channel['kind'], trial: string, at: string): Message {
  const key = `trial:${trial}`
  const note: Note = {
    id: `trial/${trial}@1`,
    type: 'notification.tried',
    subject: `channel/${name}`,
    mission: '',
    at,
    severity: 'info',
    title: `Assay test: ${name}`,
    text: 'A test message. Notifications on this channel arrive.',
    fields: [{ name: 'Channel', value: name }],
    data: { channel: name },
    incident: { action: 'trigger', key },
  }
  const message = messageOf(note, kind, source)
  if (kind !== 'pagerduty') return message
  const ended = messageOf({ ...note, incident: { action: 'resolve', keys: [key] } }, kind, source)
  return { ...message, body: [message.body, ended.body].flat() }
}
