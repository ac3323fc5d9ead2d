import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { setTimer } from './timer.ts'

export type Fetch = typeof globalThis.fetch

/** A connection that takes longer than this is given up: nobody is there. */
const connectMs = 10_000
export const connectTimeout = 'CONNECT_TIMEOUT'

const decoders = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/** A request on its way. */
export interface Posting {
  /** The head of the answer, as soon as it is there. */
  head: Promise<IncomingMessage>
  /** Gives it up, whatever it is doing: what is waited for fails. */
  giveUp(): void
}

/**
 * Sends one request over a connection that is kept for the next, and follows no redirect. Node's client itself, because what `fetch` puts around it costs
 * more than the rest of a request; it has no limits of its own on how long a model may think.
 */
export function post(url: URL, headers: Record<string, string>, body: string): Posting {
  const secure = url.protocol === 'https:'
  const options = {
    method: 'POST',
    headers: { 'accept-encoding': 'gzip, deflate, br', ...headers, 'content-length': Buffer.byteLength(body) },
  }
  const request = (secure ? overHttps : overHttp)(url, options)
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    const closed = () => reject(new Error('closed without an answer'))
    request.once('response', (answer) => {
      request.off('close', closed)
      resolve(answer)
    })
    // Not once: when it fails after the answer has begun, whoever reads the answer is told.
    request.on('error', reject)
    request.once('close', closed)
  })
  limitConnecting(request, secure ? 'secureConnect' : 'connect')
  request.end(body)
  return { head, giveUp: () => void request.destroy(new Error('given up')) }
}

function limitConnecting(request: ClientRequest, connected: 'connect' | 'secureConnect'): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const clear = setTimer(connectMs, () => request.destroy(Object.assign(new Error('no connection'), { code: connectTimeout })))
    socket.once(connected, clear)
    request.once('close', clear)
  })
}

/** The body of an answer, unpacked while it comes in; undefined where it is packed in a way that is not known. */
export function unpacked(answer: IncomingMessage): Readable | undefined {
  const coding = headerOf(answer, 'content-encoding')?.trim().toLowerCase() ?? ''
  if (coding === '' || coding === 'identity') return answer
  const decoder = decoders.get(coding)?.()
  // An error of either stream reaches the one that is read from.
  return decoder && pipeline(answer, decoder, () => undefined)
}

/** A header of an answer; one that comes twice with both values, so that neither passes for the only one. */
export function headerOf({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  return headersDistinct[name]?.join(', ')
}

/** An answer that has been read, as the SDK takes it: with a body of the one piece that there is, which costs less than a stream of the web's. */
export function readResponse(bytes: Uint8Array, status: number): Response {
  const getReader = () => {
    const pieces = [bytes]
    return {
      read: () => Promise.resolve(pieces.length > 0 ? { done: false, value: pieces.pop() } : { done: true, value: undefined }),
      cancel: () => Promise.resolve(),
      releaseLock: () => undefined,
    }
  }
  const head = new Response(null, { status, headers: { 'content-type': 'application/json' } })
  return Object.defineProperty(head, 'body', { value: { getReader } })
}
