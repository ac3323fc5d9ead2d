import type { IncomingHttpHeaders } from 'node:http'
import type { Expectations } from '../../core/verdict/read.ts'

/** The ways of asking a model that the server understands: chat completions, Anthropic's messages, Gemini's generateContent, OpenAI's responses. */
export type Dialect = 'chat' | 'messages' | 'generate' | 'responses'

/** A request as it arrived. */
export interface ModelRequest {
  /** Counts from 1. */
  number: number
  dialect: Dialect
  path: string
  headers: IncomingHttpHeaders
  /** The body, as text and parsed. */
  text: string
  json: Record<string, unknown>
  /** Names of the tools that were offered. */
  tools: string[]
  /** The tool that has to be called; undefined where the model may choose. */
  forced: string | undefined
  /** Wants its answer piece by piece, as server-sent events. */
  streamed: boolean
  /** Bytes of the answer's body that were handed to the connection so far. */
  sent: number
  /** How it ended: the answer went out whole, the client hung up before, or the server broke it off on purpose. */
  ended: Promise<'answered' | 'abandoned' | 'broken'>
}

/** Which dialect an address speaks; undefined for any other. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return 'chat'
  if (path.endsWith('/messages')) return 'messages'
  if (path.endsWith('/responses')) return 'responses'
  return /:(?:generateContent|streamGenerateContent)$/.test(path) ? 'generate' : undefined
}

/** Whether a request wants its answer as a stream; only Gemini says so in the address. */
export function isStreamed(path: string, json: Record<string, unknown>): boolean {
  return json.stream === true || path.endsWith(':streamGenerateContent')
}

interface Offered {
  name: string
  schema: unknown
}

/** Tools that a request offers, with their schemas. */
export function offeredTools(dialect: Dialect, json: Record<string, unknown>): Offered[] {
  const tools = listIn(json, 'tools')
  if (dialect === 'chat')
    return tools.map((tool) => ({ name: String(at(tool, 'function', 'name')), schema: at(tool, 'function', 'parameters') }))
  if (dialect === 'messages') return tools.map((tool) => ({ name: String(at(tool, 'name')), schema: at(tool, 'input_schema') }))
  if (dialect === 'responses') return tools.flatMap(ofResponses)
  const declared = tools.flatMap((tool) => listIn(tool, 'functionDeclarations'))
  return declared.map((tool) => ({ name: String(at(tool, 'name')), schema: at(tool, 'parametersJsonSchema') ?? at(tool, 'parameters') }))
}

/** Tools of a namespace bear its name before their own, with a dot between. */
function ofResponses(tool: unknown): Offered[] {
  const name = String(at(tool, 'name') ?? at(tool, 'type'))
  if (at(tool, 'type') !== 'namespace') return [{ name, schema: at(tool, 'parameters') }]
  return listIn(tool, 'tools').map((inner) => ({ name: `${name}.${String(at(inner, 'name'))}`, schema: at(inner, 'parameters') }))
}

export function forcedTool(dialect: Dialect, json: Record<string, unknown>): string | undefined {
  const name =
    dialect === 'chat'
      ? at(json, 'tool_choice', 'function', 'name')
      : dialect === 'messages' || dialect === 'responses'
        ? at(json, 'tool_choice', 'name')
        : at(json, 'toolConfig', 'functionCallingConfig', 'allowedFunctionNames', '0')
  return typeof name === 'string' ? name : undefined
}

/** What a request asks a verdict about, read from the schema of its `submit_verdict` tool, as a model would. */
export function askedAbout(request: Pick<ModelRequest, 'dialect' | 'json'>): Expectations {
  const schema = offeredTools(request.dialect, request.json).find(({ name }) => name === 'submit_verdict')?.schema
  const keys = (list: string, key: string): string[] => {
    if (at(schema, 'properties', list, 'maxItems') === 0) return []
    return listIn(at(schema, 'properties', list, 'items', 'properties', key), 'enum').map(String)
  }
  const nonce = at(schema, 'properties', 'nonce', 'const') ?? at(schema, 'properties', 'nonce', 'enum', '0')
  return {
    nonce: String(nonce),
    criteria: keys('criteria', 'id').map((id) => ({ id, text: '', hard: true })),
    dimensions: keys('dimensions', 'name').map((name) => ({ name, weight: 1, description: '' })),
    points: keys('prior', 'ref').map((ref) => ({ ref, source: 'judge', from: '', text: '' })),
    form: 'structured',
  }
}

const turnsOf: Record<Dialect, string> = { chat: 'messages', messages: 'messages', generate: 'contents', responses: 'input' }
const answersOf = /"(?:tool_result|functionResponse|function_call_output)"/

type Asked = Pick<ModelRequest, 'dialect' | 'json'>

/** What a request tells the model about its last tool calls, as one text; empty on the first turn. */
export function toolAnswers({ dialect, json }: Asked): string {
  const turns = listIn(json, turnsOf[dialect])
  const isAnswer = (turn: unknown) => (dialect === 'chat' ? at(turn, 'role') === 'tool' : answersOf.test(JSON.stringify(turn)))
  const found: string[] = []
  for (const turn of turns.toReversed()) {
    if (!isAnswer(turn)) break
    found.unshift(textsIn(turn).join('\n'))
  }
  return found.join('\n')
}

/** Names of the tools that the model has called in this conversation, in order. */
export function callsMade({ dialect, json }: Asked): string[] {
  return listIn(json, turnsOf[dialect]).flatMap((turn) => callsOf(dialect, turn))
}

/** Everything that was said after the last call. */
export function saidSinceLastCall({ dialect, json }: Asked): string {
  const turns = listIn(json, turnsOf[dialect])
  const last = turns.findLastIndex((turn) => callsOf(dialect, turn).length > 0)
  return turns
    .slice(last + 1)
    .flatMap(textsIn)
    .join('\n')
}

/** Everything that a request says, as one text. */
export function textOf({ dialect, json }: Asked): string {
  return [
    ...textsIn(json.system),
    ...textsIn(json.systemInstruction),
    ...textsIn(json.instructions),
    ...textsIn(json[turnsOf[dialect]]),
  ].join('\n')
}

function callsOf(dialect: Dialect, turn: unknown): string[] {
  const names = {
    chat: () => listIn(turn, 'tool_calls').map((call) => at(call, 'function', 'name')),
    messages: () => listIn(turn, 'content').map((part) => (at(part, 'type') === 'tool_use' ? at(part, 'name') : undefined)),
    generate: () => listIn(turn, 'parts').map((part) => at(part, 'functionCall', 'name')),
    responses: () => [at(turn, 'type') === 'function_call' ? at(turn, 'name') : undefined],
  }
  return names[dialect]().filter((name) => typeof name === 'string')
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function listIn(value: unknown, key: string): unknown[] {
  const list = at(value, key)
  return Array.isArray(list) ? list : []
}

/** What stands at a path in a parsed document; undefined where there is no such path. */
function at(value: unknown, ...path: string[]): unknown {
  let found = value
  for (const step of path) found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[step] : undefined
  return found
}
