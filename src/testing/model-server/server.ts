/**
 * A model on loopback, for tests, rehearsals and benchmarks. It speaks chat completions (OpenAI and everything compatible), OpenAI responses,
 * Anthropic messages and Gemini generateContent, whole or streamed as the request wants it, and says what a function tells it to:
 *
 *   const server = await startModelServer((request) => accept(request))
 *   // brains: { judge: { kind: model, provider: openai-compatible, baseURL: <server.baseURL('openai-compatible')>, model: any } }
 *   server.requests[0].headers.authorization   // what arrived
 *   await server.close()
 *
 * The function gets each request, numbered, and returns an answer in no particular dialect: `accept`, `reject`, `submit`, `say`, `use` and
 * `failure` of answers.ts make them; `delivery` says how the bytes go out. `use('read_file', { path })` on the first request and `accept` on the
 * second plays a judge that looks first. Ready-made faults are listed in faults.ts, to be tried one by one:
 *
 *   for (const [name, fault] of Object.entries(answerFaults)) server.play(fault)
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Answer, failure } from './answers.ts'
import { deliver, type Parcel } from './deliver.ts'
import { renderMessage } from './render/whole.ts'
import { renderStream } from './render/streamed.ts'
import { type Dialect, dialectOf, forcedTool, isStreamed, type ModelRequest, offeredTools } from './request.ts'

export type Script = (request: ModelRequest) => Answer | Promise<Answer>

export interface ModelServer {
  /** The address to configure for a provider. */
  baseURL(provider: 'openai' | 'openai-compatible' | 'anthropic' | 'google'): string
  /** Every request so far, in order of arrival. */
  readonly requests: readonly ModelRequest[]
  /** Another script from now on; requests so far are forgotten and counting starts again. */
  play(script: Script): void
  close(): Promise<void>
}

/** Most bytes of a request. */
const mostBytes = 64 * 1024 * 1024

/** Starts a server on a free port of 127.0.0.1, or on the one that is named. */
export async function startModelServer(script: Script, port = 0): Promise<ModelServer> {
  let current = script
  let requests: ModelRequest[] = []
  const server = createServer((incoming, response) => {
    handle(incoming, response, requests, current).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)))
    })
  })
  await new Promise<void>((resolve, refuse) => {
    server.once('error', refuse)
    server.listen(port, '127.0.0.1', resolve)
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    baseURL: (provider) => `${origin}/${provider === 'google' ? 'v1beta' : 'v1'}`,
    get requests() {
      return requests
    },
    play: (next) => {
      current = next
      requests = []
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function handle(incoming: IncomingMessage, response: ServerResponse, requests: ModelRequest[], script: Script): Promise<void> {
  const path = (incoming.url ?? '').split('?')[0] ?? ''
  const dialect = dialectOf(path)
  const text = await readText(incoming)
  let broken = false
  const ended = new Promise<'answered' | 'abandoned' | 'broken'>((resolve) => {
    response.once('close', () => resolve(broken ? 'broken' : response.writableFinished ? 'answered' : 'abandoned'))
  })
  const request = readRequest(incoming, path, dialect, text, requests.length + 1, ended)
  requests.push(request)
  const answer = dialect === undefined ? failure(404, {}, `no such address: ${path}`) : await script(request)
  broken = answer.delivery?.how === 'cut'
  await deliver(response, parcel(request, answer), (bytes) => {
    request.sent += bytes
  })
}

function readRequest(
  { headers }: IncomingMessage,
  path: string,
  known: Dialect | undefined,
  text: string,
  number: number,
  ended: ModelRequest['ended'],
): ModelRequest {
  const dialect = known ?? 'chat'
  const json = known === undefined ? {} : (JSON.parse(text) as Record<string, unknown>)
  const tools = offeredTools(dialect, json).map(({ name }) => name)
  return {
    number,
    dialect,
    path,
    headers,
    text,
    json,
    tools,
    forced: forcedTool(dialect, json),
    streamed: isStreamed(path, json),
    sent: 0,
    ended,
  }
}

function parcel({ dialect, streamed }: ModelRequest, answer: Answer): Parcel {
  const { delivery } = answer
  if (answer.kind === 'page')
    return {
      status: answer.status,
      headers: answer.headers ?? {},
      body: typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body,
      delivery,
    }
  const body = Buffer.from(streamed ? renderStream(dialect, answer) : renderMessage(dialect, answer))
  return { status: 200, headers: { 'content-type': streamed ? 'text/event-stream' : 'application/json' }, body, delivery }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) throw new Error(`a request of more than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
