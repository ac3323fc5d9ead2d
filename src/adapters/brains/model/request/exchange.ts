import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { setTimer } from './timer.ts'
import { connectTimeout, type Fetch, headerOf, post, readResponse, unpacked } from './transport.ts'

/** What bounds one request. */
export interface ExchangeLimits {
  /** Time until the first byte of the answer's body. */
  firstByteMs: number
  /** Time for all of it. A limit on silence alone would let a trickle go on for ever. */
  totalMs: number
  /** Most bytes of the answer's body, after decompression. */
  maxBytes: number
}

export type ExchangeFault =
  /** The server was not reached, or the answer broke off. */
  | { kind: 'network'; detail: string; unsent: boolean }
  | { kind: 'timeout'; detail: string }
  | { kind: 'redirect'; detail: string }
  /** An answer came, but it is no answer of a model. `body` is what came of it. */
  | { kind: 'unusable'; finish: string; body: string }

/** What one request came to, as seen on the wire. It is written while the request runs. */
export interface Exchange {
  status?: number
  retryAfterMs?: number
  /** The whole body of the answer. */
  body?: string
  fault?: ExchangeFault
}

/** Most bytes that are read of an answer which only says that there is an error. */
const mostErrorBytes = 64 * 1024

class Refused extends Error {}

/**
 * A `fetch` for one request, with deadlines and a byte cap, that writes down what it saw. Redirects are not followed, because they would take the
 * key and the work elsewhere.
 */
export function boundedFetch(limits: ExchangeLimits, exchange: Exchange): Fetch {
  return async (input, init) => {
    const posting = post(new URL(input as string | URL), headersIn(init?.headers), textIn(init?.body))
    const end = (fault: ExchangeFault) => {
      exchange.fault ??= fault
      posting.giveUp()
    }
    init?.signal?.addEventListener('abort', posting.giveUp, { once: true })
    if (init?.signal?.aborted) posting.giveUp()
    const clearTotal = setTimer(limits.totalMs, () => end({ kind: 'timeout', detail: `no whole answer within ${limits.totalMs} ms` }))
    const clearFirst = setTimer(limits.firstByteMs, () => end({ kind: 'timeout', detail: `no answer within ${limits.firstByteMs} ms` }))
    try {
      return await receive(await posting.head, limits, exchange, clearFirst)
    } catch (error) {
      if (!(error instanceof Refused)) exchange.fault ??= { kind: 'network', ...causeOf(error) }
      posting.giveUp()
      throw error
    } finally {
      clearTotal()
      clearFirst()
      init?.signal?.removeEventListener('abort', posting.giveUp)
    }
  }
}

type Init = NonNullable<Parameters<Fetch>[1]>

function headersIn(headers: Init['headers']): Record<string, string> {
  return headers instanceof Headers ? Object.fromEntries(headers) : { ...(headers as Record<string, string>) }
}

/** Providers are asked in JSON. */
function textIn(body: Init['body']): string {
  if (typeof body !== 'string') throw new TypeError('a provider sends something else than text')
  return body
}

async function receive(answer: IncomingMessage, limits: ExchangeLimits, exchange: Exchange, onFirstByte: () => void): Promise<Response> {
  const status = answer.statusCode ?? 0
  exchange.status = status
  const retryAfterMs = retryAfter(answer)
  if (retryAfterMs !== undefined) exchange.retryAfterMs = retryAfterMs
  if (status >= 300 && status < 400) {
    return refuse(exchange, { kind: 'redirect', detail: `the server redirects elsewhere (HTTP ${status}), which is not followed` })
  }
  const ok = status >= 200 && status < 300
  const most = ok ? limits.maxBytes : Math.min(limits.maxBytes, mostErrorBytes)
  const stream = unpacked(answer)
  if (stream === undefined) return refuse(exchange, { kind: 'unusable', finish: 'packed in an unknown way', body: '' })
  const { bytes, whole } = await readBytes(stream, most, onFirstByte)
  if (!ok) {
    exchange.body = bytes.toString('utf8')
    return readResponse(bytes, status)
  }
  if (!whole) return refuse(exchange, { kind: 'unusable', finish: `longer than ${most} bytes`, body: bytes.toString('utf8') })
  const text = asText(bytes)
  if (text === undefined) return refuse(exchange, { kind: 'unusable', finish: 'not UTF-8', body: bytes.toString('utf8') })
  const type = headerOf(answer, 'content-type') ?? 'nothing'
  if (!/^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i.test(type)) {
    return refuse(exchange, { kind: 'unusable', finish: `content type ${type.slice(0, 100)}`, body: text })
  }
  if (status !== 200) return refuse(exchange, { kind: 'unusable', finish: `HTTP ${status}, which is no whole answer`, body: text })
  exchange.body = text
  return readResponse(bytes, status)
}

function refuse(exchange: Exchange, fault: ExchangeFault): never {
  exchange.fault ??= fault
  throw new Refused(fault.kind)
}

/** Reads no more than it may; what is left of the answer is given up. */
async function readBytes(stream: Readable, most: number, onFirstByte: () => void): Promise<{ bytes: Buffer; whole: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    onFirstByte()
    chunks.push(chunk)
    size += chunk.byteLength
    if (size > most) return { bytes: Buffer.concat(chunks).subarray(0, most), whole: false }
  }
  return { bytes: Buffer.concat(chunks), whole: true }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function asText(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Milliseconds that the server asks to wait: a number of seconds, or a point in time. */
function retryAfter(answer: IncomingMessage): number | undefined {
  const inMs = headerOf(answer, 'retry-after-ms')
  if (inMs !== undefined && /^\d{1,12}(\.\d+)?$/.test(inMs)) return Number(inMs)
  const value = headerOf(answer, 'retry-after')
  if (value === undefined) return undefined
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

/** Failures that happen before anything can be sent. */
const unreached = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', connectTimeout]

/** Why a connection failed, in a few words: the code of the innermost cause, which has no text of anybody else in it. */
function causeOf(error: unknown): { detail: string; unsent: boolean } {
  let cause = error
  for (let depth = 0; depth < 5 && cause instanceof Error && cause.cause !== undefined; depth += 1) cause = cause.cause
  const code = (cause as { code?: unknown } | undefined)?.code
  const told = typeof code === 'string' ? code : cause instanceof Error ? cause.message : String(cause)
  return { detail: `the connection failed (${told})`, unsent: unreached.includes(told) }
}
