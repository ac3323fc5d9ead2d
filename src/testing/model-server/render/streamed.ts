import type { Message } from '../answers.ts'
import type { Dialect } from '../request.ts'
import { type Parts, partsOf, renderGenerate, renderResponse, responseItems, placeOf } from './whole.ts'

/** Answers rendered so far: a client that keeps a conversation tells messages and calls by their ids. */
let turn = 0

/** The body of a message as server-sent events. Texts and arguments come in two pieces each, so that whoever reads them has to put them together. */
export function renderStream(dialect: Dialect, message: Message): string {
  const parts = partsOf(dialect, message)
  turn += 1
  if (dialect === 'chat') return chat(parts)
  if (dialect === 'messages') return messages(parts)
  return dialect === 'responses' ? responses(parts) : `data: ${renderGenerate(parts)}\r\n\r\n`
}

const halves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '')
}
const quoted = (text: string): string => JSON.stringify(text)
const named = (event: string, data: string): string => `event: ${event}\ndata: {"type":"${event}",${data}}\n\n`

function chat({ text, calls, tokens, word }: Parts): string {
  const chunk = (delta: string, finish = 'null') =>
    `data: {"id":"chat-1","object":"chat.completion.chunk","created":1700000000,"model":"any","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`
  const usage = `{"prompt_tokens":${tokens.input},"completion_tokens":${tokens.output},"total_tokens":${tokens.input + tokens.output}}`
  return [
    chunk('{"role":"assistant","content":""}'),
    ...halves(text ?? '').map((piece) => chunk(`{"content":${quoted(piece)}}`)),
    ...calls.flatMap(({ name, args }, index) => [
      chunk(
        `{"tool_calls":[{"index":${index},"id":"call_${turn}_${index + 1}","type":"function","function":{"name":${quoted(name)},"arguments":""}}]}`,
      ),
      ...halves(args).map((piece) => chunk(`{"tool_calls":[{"index":${index},"function":{"arguments":${quoted(piece)}}}]}`)),
    ]),
    chunk('{}', word),
    `data: {"id":"chat-1","object":"chat.completion.chunk","created":1700000000,"model":"any","choices":[],"usage":${usage}}\n\n`,
    'data: [DONE]\n\n',
  ].join('')
}

function messages({ text, calls, tokens, word }: Parts): string {
  const blocks = [
    ...(text === undefined
      ? []
      : [{ start: '{"type":"text","text":""}', deltas: halves(text).map((piece) => `{"type":"text_delta","text":${quoted(piece)}}`) }]),
    ...calls.map(({ name, args }, index) => ({
      start: `{"type":"tool_use","id":"toolu_${turn}_${index + 1}","name":${quoted(name)},"input":{}}`,
      deltas: halves(args).map((piece) => `{"type":"input_json_delta","partial_json":${quoted(piece)}}`),
    })),
  ]
  return [
    named(
      'message_start',
      `"message":{"id":"msg_${turn}","type":"message","role":"assistant","model":"any","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":${tokens.input},"output_tokens":1}}`,
    ),
    ...blocks.flatMap(({ start, deltas }, index) => [
      named('content_block_start', `"index":${index},"content_block":${start}`),
      ...deltas.map((delta) => named('content_block_delta', `"index":${index},"delta":${delta}`)),
      named('content_block_stop', `"index":${index}`),
    ]),
    named('message_delta', `"delta":{"stop_reason":${word},"stop_sequence":null},"usage":{"output_tokens":${tokens.output}}`),
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ].join('')
}

function responses(parts: Parts): string {
  const { text, calls } = parts
  const end = parts.word === '"incomplete"' ? 'response.incomplete' : 'response.completed'
  const begun = [
    ...(text === undefined
      ? []
      : [{ item: '{"type":"message","id":"msg_1","role":"assistant","content":[]}', of: 'msg_1', delta: 'output_text', all: text }]),
    ...calls.map(({ name, args }, index) => ({
      item: `{"type":"function_call","id":"fc_${index + 1}","call_id":"call_${index + 1}",${placeOf(name)},"arguments":""}`,
      of: `fc_${index + 1}`,
      delta: 'function_call_arguments',
      all: args,
    })),
  ]
  const done = responseItems(text, calls)
  return [
    named(
      'response.created',
      '"response":{"id":"resp_1","object":"response","created_at":1700000000,"model":"any","status":"in_progress"}',
    ),
    ...begun.flatMap(({ item, of, delta, all }, index) => [
      named('response.output_item.added', `"output_index":${index},"item":${item}`),
      ...halves(all).map((piece) =>
        named(`response.${delta}.delta`, `"item_id":"${of}","output_index":${index},"content_index":0,"delta":${quoted(piece)}`),
      ),
      named('response.output_item.done', `"output_index":${index},"item":${done[index]}`),
    ]),
    named(end, `"response":${renderResponse(parts)}`),
  ].join('')
}
