import type { StoredEvent } from '../../../contract/events/envelope.ts'
import { marked } from '../../../contract/source/shown.ts'
import { oneLine, type Output } from '../output.ts'
import { describeEvent } from '../render/event.ts'
import { cut } from '../render/table.ts'
import { groupOf, subjectOf } from './kinds.ts'

const shortDigest = (text: string): string => text.replace(/sha256:([0-9a-f]{12})[0-9a-f]{52}/g, 'sha256:$1…')

/** Events whose line is not written where people watch a run. */
const own: Readonly<Record<string, (data: Record<string, unknown>) => string>> = {
  'policy.accepted': ({ digest, how, by, reason }) =>
    how === 'first' ? `policy ${digest} is the first here, and trusted` : `policy ${digest} accepted by ${by}: ${reason}`,
  'deliverable.freed': ({ deliverable, by, reason }) => `${deliverable} freed by ${by}: ${reason}`,
  'policy.recorded': ({ digest }) => `policy ${digest} is in force`,
  'policy.adopted': ({ policy, bar, by }) => `policy ${policy} adopted by ${by}, bar ${bar}`,
  'session.unreviewed': ({ agent, session, reason }) => `${agent} ended UNREVIEWED in session ${session}: ${reason}`,
  'owner.enrolled': () => "the owner's token is known from here on",
}

/** What an event says, in words; one that has none is shown by its plain fields, never as a blob. */
function words(event: StoredEvent): string {
  const data = event.data as Record<string, unknown>
  const text = own[event.type]?.(data) ?? describeEvent(event) ?? fields(data)
  return shortDigest(oneLine(text, 400))
}

function fields(data: Record<string, unknown>): string {
  const plain = Object.entries(data).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return plain.map(([name, value]) => `${name} ${value}`).join(', ')
}

/** A line for people. */
export function auditLine(output: Output, event: StoredEvent): string {
  const time = event.meta.at.slice(0, 19).replace('T', ' ')
  const where = `${marked(event.stream)}@${event.version}`
  const text = `${time}  ${event.type.padEnd(20)}  ${words(event)}  (${where})`
  return output.terminal.stdout.isTTY ? cut(text, output.columns) : text
}

export const csvHeadings = ['position', 'time', 'group', 'kind', 'subject', 'id', 'actor', 'text', 'stream', 'version', 'hash']

export function csvRow(event: StoredEvent): string {
  const { kind, id } = subjectOf(event)
  const cells = [
    event.position,
    event.meta.at,
    groupOf(event.type) ?? '',
    event.type,
    kind,
    id,
    event.meta.actor,
    words(event),
    event.stream,
    event.version,
    event.hash,
  ]
  return cells.map((cell) => csvCell(String(cell))).join(',')
}

/** Quoted where needed. What a spreadsheet would run as a formula is made text: agents write some of these cells. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
