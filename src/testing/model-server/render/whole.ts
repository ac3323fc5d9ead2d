import type { Finish, Message } from '../answers.ts'
import type { Dialect } from '../request.ts'

type Words = Record<Finish | 'tool', string | null>

const words: Record<Dialect, Words> = {
  chat: {
    normal: 'stop',
    tool: 'tool_calls',
    length: 'length',
    'content-filter': 'content_filter',
    refusal: 'stop',
    unknown: 'mystery',
    missing: null,
  },
  messages: {
    normal: 'end_turn',
    tool: 'tool_use',
    length: 'max_tokens',
    'content-filter': 'refusal',
    refusal: 'refusal',
    unknown: 'mystery',
    missing: null,
  },
  generate: {
    normal: 'STOP',
    tool: 'STOP',
    length: 'MAX_TOKENS',
    'content-filter': 'SAFETY',
    refusal: 'PROHIBITED_CONTENT',
    unknown: 'MYSTERY',
    missing: null,
  },
  responses: {
    normal: 'completed',
    tool: 'completed',
    length: 'incomplete',
    'content-filter': 'incomplete',
    refusal: 'completed',
    unknown: 'mystery',
    missing: null,
  },
}

/** The body of a message in a dialect. Arguments are put in as they stand: what is wrong with them arrives. */
export function renderMessage(dialect: Dialect, message: Message): string {
  const parts = partsOf(dialect, message)
  if (dialect === 'chat') return renderChat(parts, message.finish === 'refusal')
  if (dialect === 'responses') return renderResponse(parts)
  return dialect === 'messages' ? renderMessages(parts) : renderGenerate(parts)
}

export type Parts = Message & Required<Pick<Message, 'calls' | 'tokens'>> & { word: string }

/** A message with all that is left unsaid in it, and the dialect's word for its end, as JSON. */
export function partsOf(dialect: Dialect, message: Message): Parts {
  const { calls = [], finish = 'normal', tokens = { input: 100, output: 20 } } = message
  const word = words[dialect][finish === 'normal' && calls.length > 0 ? 'tool' : finish]
  return { ...message, calls, tokens, word: JSON.stringify(word) }
}

function renderChat({ text, calls, tokens, word }: Parts, refused: boolean): string {
  const toolCalls = calls.map(
    ({ name, args }, index) =>
      `{"id":"call_${index + 1}","type":"function","function":{"name":${JSON.stringify(name)},"arguments":${JSON.stringify(args)}}}`,
  )
  const refusal = refused ? ',"refusal":"I cannot help with that."' : ''
  const tools = calls.length > 0 ? `,"tool_calls":[${toolCalls.join(',')}]` : ''
  const said = `{"role":"assistant","content":${JSON.stringify(text ?? null)}${tools}${refusal}}`
  const usage = `{"prompt_tokens":${tokens.input},"completion_tokens":${tokens.output},"total_tokens":${tokens.input + tokens.output}}`
  return `{"id":"chat-1","object":"chat.completion","created":1700000000,"model":"any","choices":[{"index":0,"message":${said},"finish_reason":${word}}],"usage":${usage}}`
}

function renderMessages({ text, calls, tokens, word }: Parts): string {
  const blocks = [
    ...(text === undefined ? [] : [`{"type":"text","text":${JSON.stringify(text)}}`]),
    ...calls.map(({ name, args }, index) => `{"type":"tool_use","id":"toolu_${index + 1}","name":${JSON.stringify(name)},"input":${args}}`),
  ]
  const usage = `{"input_tokens":${tokens.input},"output_tokens":${tokens.output}}`
  return `{"id":"msg_1","type":"message","role":"assistant","model":"any","content":[${blocks.join(',')}],"stop_reason":${word},"stop_sequence":null,"usage":${usage}}`
}

export function renderGenerate({ text, calls, tokens, word }: Parts): string {
  const parts = [
    ...(text === undefined ? [] : [`{"text":${JSON.stringify(text)}}`]),
    ...calls.map(({ name, args }) => `{"functionCall":{"name":${JSON.stringify(name)},"args":${args}}}`),
  ]
  const finish = word === 'null' ? '' : `,"finishReason":${word}`
  const usage = `{"promptTokenCount":${tokens.input},"candidatesTokenCount":${tokens.output},"totalTokenCount":${tokens.input + tokens.output}}`
  return `{"candidates":[{"content":{"role":"model","parts":[${parts.join(',')}]}${finish},"index":0}],"usageMetadata":${usage},"modelVersion":"any"}`
}

export function renderResponse({ text, calls, tokens, word }: Parts): string {
  const usage = `{"input_tokens":${tokens.input},"input_tokens_details":{"cached_tokens":0},"output_tokens":${tokens.output},"output_tokens_details":{"reasoning_tokens":0},"total_tokens":${tokens.input + tokens.output}}`
  const why = word === '"incomplete"' ? '{"reason":"max_output_tokens"}' : 'null'
  return `{"id":"resp_1","object":"response","created_at":1700000000,"model":"any","status":${word},"incomplete_details":${why},"output":[${responseItems(text, calls).join(',')}],"usage":${usage}}`
}

/** What a response consists of: a message, then the calls. */
export function responseItems(text: string | undefined, calls: Parts['calls']): string[] {
  const said = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":${JSON.stringify(text)},"annotations":[]}]}`
  return [
    ...(text === undefined ? [] : [said]),
    ...calls.map(
      ({ name, args }, index) =>
        `{"type":"function_call","id":"fc_${index + 1}","call_id":"call_${index + 1}",${placeOf(name)},"arguments":${JSON.stringify(args)},"status":"completed"}`,
    ),
  ]
}

/** Name and namespace of a tool as it was offered; a name with a dot has both. */
export function placeOf(offered: string): string {
  const [name = '', namespace] = offered.split('.').reverse()
  return `"name":${JSON.stringify(name)}${namespace === undefined ? '' : `,"namespace":${JSON.stringify(namespace)}`}`
}
