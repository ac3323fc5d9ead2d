import type { RawReply } from '../contract/verdict.ts'
import type { Expectations } from '../core/verdict/read.ts'

type Loose = Record<string, unknown>

/**
 * Whether a reply may be read as an accept at all, decided a second time and another way than the reader does.
 * Wider than the reader where it only knows less; never narrower.
 */
export function mayAccept(reply: RawReply, expected: Expectations): boolean {
  const stops = ['stop', 'end_turn', 'STOP', ...(reply.channel === 'tool' ? ['tool-calls', 'tool_calls', 'tool_use'] : [])]
  if (reply.finish !== undefined && !stops.includes(reply.finish)) return false
  const fenced = /^[ \t\r\n]*```(?:json)?[ \t\r]*\n([\s\S]*)\n```[ \t\r\n]*$/i.exec(reply.body)
  const text = reply.channel === 'text' ? (fenced?.[1] ?? reply.body) : reply.body
  const value = parsed(text)
  if (!isObject(value) || !saysEverythingOnce(text, value)) return false
  if (numbersIn(text).some((literal) => !/^[1-5](?:\.0{1,14})?$/.test(literal))) return false
  return isAccept(value, expected)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A key said twice is lost when the value is written again, and its colon with it. */
function saysEverythingOnce(text: string, value: unknown): boolean {
  const colons = (json: string) => withoutStrings(json).split(':').length
  return colons(text) === colons(JSON.stringify(value))
}

function withoutStrings(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/gs, '""')
}

function numbersIn(json: string): string[] {
  return withoutStrings(json).match(/[-\d][-+.\deE]*/g) ?? []
}

function isAccept(value: Loose, expected: Expectations): boolean {
  const { prior, criteria, dimensions } = value
  const hard = expected.criteria.filter((criterion) => criterion.hard).map(({ id }) => id)
  return (
    hasKeys(value, 'concern,criteria,dimensions,evidence,next_step,nonce,prior,rejection_category,verdict') &&
    value.nonce === expected.nonce &&
    value.verdict === 'accept' &&
    value.rejection_category === null &&
    value.next_step === null &&
    isText(value.concern) &&
    isEvidence(value.evidence) &&
    answers(prior, 'addressed,evidence,ref', 'ref', expected.points) &&
    answers(criteria, 'evidence,id,met,reasoning', 'id', expected.criteria) &&
    answers(dimensions, 'name,reasoning,score', 'name', expected.dimensions) &&
    prior.every((answer) => ['yes', 'no', 'partly'].includes(String(answer.addressed)) && isEvidence(answer.evidence)) &&
    criteria.every((answer) => ['yes', 'no', 'cannot_tell'].includes(String(answer.met)) && isEvidence(answer.evidence)) &&
    criteria.every((answer) => !(answer.met === 'no' && hard.includes(String(answer.id)))) &&
    dimensions.every((answer) => [1, 2, 3, 4, 5].includes(answer.score as number) && typeof answer.reasoning === 'string')
  )
}

function hasKeys(value: Loose, sorted: string): boolean {
  return Object.keys(value).sort().join() === sorted
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

function isEvidence(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function answers(value: unknown, keys: string, key: string, asked: readonly object[]): value is Loose[] {
  if (!Array.isArray(value) || !value.every((answer) => isObject(answer) && hasKeys(answer, keys))) return false
  const sorted = (things: readonly object[]) => JSON.stringify(things.map((thing) => (thing as Loose)[key]).sort())
  return sorted(value) === sorted(asked)
}
