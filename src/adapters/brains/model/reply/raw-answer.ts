import type { Brain } from '../../../../contract/agent.ts'
import { itemsAt, memberAt, membersAt, type Span, stringAt } from './spans.ts'

export type Provider = Extract<Brain, { kind: 'model' }>['provider']

/** What a provider's answer says, taken from the very text of its body: a parsed value has lost repeated keys. */
export interface RawAnswer {
  /** Tool calls in order, each with the text of its arguments exactly as it was sent. */
  calls: { name: string; args: string }[]
  /** The provider's own word for why the answer ended. */
  finish: string | undefined
  /** The model declined to answer, in the field that the provider has for that. */
  refused: boolean
}

/** Reads the body of an answer; undefined where it is not one answer in the provider's dialect. */
export function readRawAnswer(provider: Provider, body: string): RawAnswer | undefined {
  if (!isJson(body) || saysError(body, 0)) return undefined
  if (provider === 'anthropic') return readMessages(body)
  return provider === 'google' ? readGenerateContent(body) : readChatCompletion(body)
}

/** An error beside an answer: whatever the answer says, something went wrong with it. */
function saysError(body: string, at: number): boolean {
  return membersAt(body, at).some(({ key, value }) => key === 'error' && body.slice(value.start, value.end) !== 'null')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Chat completions carry the arguments as a text inside the JSON. */
function readChatCompletion(body: string): RawAnswer | undefined {
  const choice = onlyItem(body, memberAt(body, 0, 'choices'))
  const message = choice && memberAt(body, choice.start, 'message')
  if (choice === undefined || message === undefined || saysError(body, choice.start)) return undefined
  const toolCalls = memberAt(body, message.start, 'tool_calls')
  const calls = (toolCalls ? itemsAt(body, toolCalls.start) : []).map((call) => {
    const called = memberAt(body, call.start, 'function')
    return {
      name: stringAt(body, called && memberAt(body, called.start, 'name')),
      args: stringAt(body, called && memberAt(body, called.start, 'arguments')),
    }
  })
  const refusal = stringAt(body, memberAt(body, message.start, 'refusal'))
  return answer(calls, stringAt(body, memberAt(body, choice.start, 'finish_reason')), refusal !== undefined && refusal !== '')
}

/** Messages carry the arguments as an object, `input`. */
function readMessages(body: string): RawAnswer | undefined {
  const content = memberAt(body, 0, 'content')
  if (content === undefined) return undefined
  const calls = itemsAt(body, content.start)
    .filter((block) => stringAt(body, memberAt(body, block.start, 'type')) === 'tool_use')
    .map((block) => ({
      name: stringAt(body, memberAt(body, block.start, 'name')),
      args: textOf(body, memberAt(body, block.start, 'input')),
    }))
  const finish = stringAt(body, memberAt(body, 0, 'stop_reason'))
  return answer(calls, finish, finish === 'refusal')
}

/** Generated content carries the arguments as an object, `args`; a call without any has none. */
function readGenerateContent(body: string): RawAnswer | undefined {
  const candidate = onlyItem(body, memberAt(body, 0, 'candidates'))
  if (candidate === undefined || isBlocked(body)) return undefined
  const content = memberAt(body, candidate.start, 'content')
  const parts = content && memberAt(body, content.start, 'parts')
  const calls = (parts ? itemsAt(body, parts.start) : [])
    .map((part) => memberAt(body, part.start, 'functionCall'))
    .filter((call) => call !== undefined)
    .map((call) => ({
      name: stringAt(body, memberAt(body, call.start, 'name')),
      args: textOf(body, memberAt(body, call.start, 'args')) ?? '{}',
    }))
  return answer(calls, stringAt(body, memberAt(body, candidate.start, 'finishReason')), false)
}

/** The question was blocked: what comes with that is no answer to it. */
function isBlocked(body: string): boolean {
  return membersAt(body, 0)
    .filter(({ key }) => key === 'promptFeedback')
    .some(({ value }) => membersAt(body, value.start).some((inner) => inner.key === 'blockReason' && body[inner.value.start] !== 'n'))
}

/** One answer was asked for: where there are several, none of them is it. */
function onlyItem(body: string, list: Span | undefined): Span | undefined {
  const items = list ? itemsAt(body, list.start) : []
  return items.length === 1 ? items[0] : undefined
}

function textOf(body: string, span: Span | undefined): string | undefined {
  return span && body.slice(span.start, span.end)
}

function answer(
  calls: { name: string | undefined; args: string | undefined }[],
  finish: string | undefined,
  refused: boolean,
): RawAnswer | undefined {
  const whole = calls.flatMap(({ name, args }) => (name === undefined || args === undefined ? [] : [{ name, args }]))
  return whole.length === calls.length ? { calls: whole, finish, refused } : undefined
}
