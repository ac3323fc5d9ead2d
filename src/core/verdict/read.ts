import type { RawReply, TextVerdict, Verdict } from '../../contract/verdict.ts'
import { excerpt } from './excerpt.ts'
import { readScoreLine } from './score-line.ts'
import { maxDocumentLength, parseStrictJson } from './strict-json.ts'
import { type Expectations, readVerdict } from './well-formed.ts'

export type { Expectations } from './well-formed.ts'

export type ReadReply = { kind: 'verdict'; verdict: Verdict } | { kind: 'text'; text: TextVerdict } | { kind: 'unreadable'; reason: string }

/** Finish reasons of a model that stopped because it was done. A cut or filtered reply can look complete, so nothing else is believed. */
const normalStops = new Set(['stop', 'end_turn', 'STOP'])
const normalToolCalls = new Set(['tool-calls', 'tool_calls', 'tool_use', ...normalStops])

/**
 * Reads a judge's reply, or says why it cannot be read, in words that a reprompt can use.
 * The whole reply is the answer: nothing is searched for, repaired or guessed, because worker text may be quoted anywhere in it.
 */
export function readReply(reply: RawReply, expected: Expectations): ReadReply {
  const { channel, body, finish } = reply
  const normal = channel === 'tool' ? normalToolCalls : normalStops
  if (finish !== undefined && !normal.has(finish)) return unreadable(`the reply did not end normally (finish reason ${excerpt(finish)})`)
  if (body.length > maxDocumentLength) return unreadable(`the reply is longer than ${maxDocumentLength} characters`)
  if (body.startsWith('\uFEFF')) return unreadable('the reply begins with a byte order mark')
  if (channel === 'tool') return readDocument(body, expected, 'the arguments of submit_verdict must be one JSON object')

  const text = trimmed(body)
  const inner = insideFence(text)
  if (expected.form === 'text' && inner === undefined && !text.startsWith('{')) return readText(body, expected.nonce)
  return readDocument(
    inner ?? text,
    expected,
    'the whole reply must be one JSON object, bare or in one ```json fence, with nothing before or after',
  )
}

/** A field that only a structured verdict has. Beside a score line it makes two answers, and nobody can tell which one is meant. */
const verdictField = /"(?:verdict|rejection_category|next_step)"[ \t\r\n]{0,20}:/

function readText(body: string, nonce: string): ReadReply {
  if (body.includes(nonce) || verdictField.test(body)) {
    return unreadable('a text reply is either one JSON object or a score line with feedback; this one has parts of both')
  }
  const read = readScoreLine(body)
  return read.ok ? { kind: 'text', text: read.text } : unreadable(read.reason)
}

function readDocument(text: string, expected: Expectations, rule: string): ReadReply {
  const document = parseStrictJson(text)
  if (!document.ok) return unreadable(`${rule}; ${document.reason}`)
  const read = readVerdict(document.value, expected)
  return read.ok ? { kind: 'verdict', verdict: read.verdict } : unreadable(read.problems.join('; '))
}

function unreadable(reason: string): ReadReply {
  return { kind: 'unreadable', reason }
}

/** Without JSON's own white space around it, and no other. */
function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (isBlank(text[start])) start += 1
  while (isBlank(text[end - 1])) end -= 1
  return text.slice(start, end)
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\n' || character === '\r'
}

/** What one Markdown fence encloses, if it encloses all of the text: opened by the first line, closed by the last and by no line between. */
function insideFence(text: string): string | undefined {
  const lines = text.split('\n')
  if (!/^```(?:[jJ][sS][oO][nN])?[ \t\r]*$/.test(lines[0] as string) || lines.at(-1) !== '```') return undefined
  const inner = lines.slice(1, -1)
  return inner.some((line) => /^[ \t]*```/.test(line)) ? undefined : inner.join('\n')
}
