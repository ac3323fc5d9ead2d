import { readFileSync, statSync } from 'node:fs'

/** What a coding agent's hook tells, whatever its dialect. */
export interface HookCall {
  /** `unknown`: it does not say what happened, so that nobody can tell whether something was to be reviewed. */
  event: 'stop' | 'start' | 'other' | 'unknown'
  session: string
  /** Where the agent says it is, which it can change. */
  cwd: string
  /** What the agent was asked, as far as the hook says or its transcript does. */
  asked: string
  /** The agent's last words. */
  said: string
  /** Something of the agent's still runs: it has not ended. */
  busy: boolean
  /** The session's start, told when the agent has worked in it already. */
  late?: boolean
}

/** Bytes of a transcript that are read, from its end. */
const transcriptBytes = 4 * 1024 * 1024
/** Characters of what was asked that judges are told, the latest first. */
const askedLength = 8_000

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** What people asked in a session, from its transcript: lines of JSON in which messages have a role and a content. */
export function askedIn(path: unknown): string {
  if (typeof path !== 'string' || path === '') return ''
  try {
    const { size } = statSync(path)
    const text = readFileSync(path, 'utf8')
    return askedInLines(size > transcriptBytes ? text.slice(-transcriptBytes) : text)
  } catch {
    // A transcript that cannot be read is no reason to keep the agent: judges are told less.
    return ''
  }
}

/** Whether an agent has worked in a session: its transcript has words of its own, or it says that it goes on with an earlier one. */
export function hasWorked(source: unknown, path: unknown): boolean {
  if (source === 'resume' || source === 'compact') return true
  if (typeof path !== 'string' || path === '') return false
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .some((line) => isAgents(parsed(line)))
  } catch {
    // A transcript that is not there yet is that of a new session.
    return false
  }
}

function isAgents(entry: unknown): boolean {
  const { message, payload, role } = record(entry)
  if (message !== undefined || payload !== undefined) return isAgents(message ?? payload)
  return role === 'assistant' || role === 'model'
}

function askedInLines(text: string): string {
  const found: string[] = []
  for (const line of text.split('\n')) {
    const said = userText(parsed(line))
    if (said !== '' && found.at(-1) !== said) found.push(said)
  }
  const asked = found.join('\n\n')
  return asked.length > askedLength ? `…${asked.slice(-askedLength)}` : asked
}

function parsed(line: string): unknown {
  try {
    return line.trim() === '' ? undefined : JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The words of a person in one entry; nothing for tool results, system messages and the agent's own. */
function userText(entry: unknown): string {
  const { message, payload, role, content, isMeta } = record(entry)
  if (isMeta === true) return ''
  if (message !== undefined) return userText(message)
  if (payload !== undefined) return userText(payload)
  if (role !== 'user') return ''
  const parts = Array.isArray(content) ? content : [{ type: 'text', text: content }]
  const texts = parts.flatMap((part) => (/^(input_)?text$/.test(textOf(record(part).type)) ? [textOf(record(part).text)] : []))
  // What programs put into the conversation stands in tags of their own.
  return texts
    .filter((one) => !/^\s*<[a-z_-]+>/i.test(one))
    .join('\n')
    .trim()
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
