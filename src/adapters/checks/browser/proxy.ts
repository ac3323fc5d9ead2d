import { createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { Duplex } from 'node:stream'
import { excerpt } from '../../../contract/source/shown.ts'
import type { FetchRules } from '../net/rules.ts'
import { type Target, targetOf } from '../net/target.ts'

/** The browser's only way to the network. */
export interface GuardedProxy {
  origin: string
  /** What was asked for and not let through, with the reason; each once. */
  refused(): readonly string[]
  /** Why all traffic was ended; undefined while it was not. */
  overflow(): string | undefined
  close(): Promise<void>
}

const mostConnections = 256
const mostRefused = 50
const mostBytes = 64 * 1024 * 1024
const mostHeaderBytes = 32 * 1024
const perConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'upgrade'])

/**
 * Opens a proxy that applies the address rules of the http check to whatever a browser asks for: pages, redirects, what they load, and sockets.
 * A name is resolved here, every address is checked, and the connection goes to the checked addresses alone.
 */
export async function openProxy(rules: FetchRules, signal: AbortSignal): Promise<GuardedProxy> {
  const server = createServer({ maxHeaderSize: mostHeaderBytes })
  server.maxConnections = mostConnections
  const traffic = new Traffic()
  server.on('connection', (socket) => traffic.add(socket))
  server.on('request', (asked, response) => traffic.during(forward(asked, response, rules, signal, traffic), asked.socket))
  server.on('connect', (asked, socket, head) => traffic.during(tunnel(asked, socket, head, rules, signal, traffic), socket))
  const port = await listen(server)
  const closed = new Promise<void>((resolve) => server.once('close', resolve))
  return {
    origin: `http://127.0.0.1:${port}`,
    refused: () => [...traffic.refused],
    overflow: () => (traffic.bytes > mostBytes ? `the page loaded more than ${mostBytes} bytes` : undefined),
    async close() {
      server.close()
      await traffic.end()
      await closed
    },
  }
}

/** All connections of one proxy, so that they can be counted together and ended together. */
class Traffic {
  readonly refused = new Set<string>()
  bytes = 0
  readonly #sockets = new Set<Duplex>()
  readonly #running = new Set<Promise<void>>()

  add(socket: Duplex): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    // A connection that breaks is closed by that; the other side sees it.
    socket.on('error', () => socket.destroy())
  }

  count(source: NodeJS.ReadableStream): void {
    source.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length
      if (this.bytes > mostBytes) this.#endSockets()
    })
  }

  refuse(what: string, why: string): void {
    if (this.refused.size < mostRefused) this.refused.add(`${excerpt(what)} (${why})`)
  }

  /** A request that cannot be passed on is, for the browser, a connection that breaks. */
  during(work: Promise<void>, socket: Duplex): void {
    const done = work.catch((error: Error) => {
      this.refuse('a request', error.message)
      socket.destroy()
    })
    this.#running.add(done)
    void done.finally(() => this.#running.delete(done))
  }

  async end(): Promise<void> {
    this.#endSockets()
    await Promise.all(this.#running)
    this.#endSockets()
  }

  #endSockets(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

async function listen(server: Server): Promise<number> {
  return await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** The target where the rules let it through; otherwise it is written down as refused. */
async function allowed(address: string, rules: FetchRules, signal: AbortSignal, traffic: Traffic): Promise<Target | undefined> {
  if (signal.aborted) return undefined
  try {
    const target = await targetOf(address, undefined, rules, signal)
    if (!('code' in target)) return target
    traffic.refuse(address, target.message)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return undefined
}

/** A request for a plain http address. */
async function forward(
  asked: IncomingMessage,
  response: ServerResponse,
  rules: FetchRules,
  signal: AbortSignal,
  traffic: Traffic,
): Promise<void> {
  const target = await allowed(asked.url ?? '', rules, signal, traffic)
  if (target === undefined) return void response.destroy()
  const outgoing = httpRequest({
    host: target.url.hostname.replace(/^\[|\]$/g, ''),
    port: target.url.port === '' ? 80 : Number(target.url.port),
    path: `${target.url.pathname}${target.url.search}`,
    method: asked.method,
    headers: { ...passedOn(asked.headers), host: target.url.host },
    lookup: pinnedTo(target.addresses),
    agent: false,
    maxHeaderSize: mostHeaderBytes,
  })
  outgoing.on('socket', (socket) => traffic.add(socket))
  outgoing.on('error', () => response.destroy())
  outgoing.on('response', (answer) => {
    traffic.count(answer)
    // What no server may answer with is not passed on.
    const status = answer.statusCode ?? 0
    if (status < 200 || status > 599) return void outgoing.destroy(new Error('no status that there is'))
    response.writeHead(status, passedOn(answer.headers))
    pipeline(answer, response, () => outgoing.destroy())
  })
  response.on('close', () => outgoing.destroy())
  pipeline(asked, outgoing, () => undefined)
}

/** A connection for https and for sockets: bytes go through unread. */
async function tunnel(
  asked: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  rules: FetchRules,
  signal: AbortSignal,
  traffic: Traffic,
): Promise<void> {
  const place = asked.url ?? ''
  const target = await allowed(`${place.endsWith(':80') ? 'http' : 'https'}://${place}/`, rules, signal, traffic)
  if (target === undefined) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  const port = Number(/:(\d+)$/.exec(place)?.[1] ?? 443)
  const outgoing: Socket = connect({
    host: target.url.hostname.replace(/^\[|\]$/g, ''),
    port,
    lookup: pinnedTo(target.addresses),
    autoSelectFamily: true,
  })
  traffic.add(outgoing)
  outgoing.once('connect', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) outgoing.write(head)
    traffic.count(outgoing)
    outgoing.pipe(socket)
    socket.pipe(outgoing)
  })
  outgoing.once('close', (broke) => broke && socket.destroy())
  socket.once('close', () => outgoing.destroy())
}

/** Answers with the addresses that were checked, whatever the name means by now. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_name, options, answer) => {
    if (options.all) return answer(null, pinned)
    answer(null, pinned[0]?.address ?? '', pinned[0]?.family)
  }
}

function passedOn<T>(headers: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !perConnection.has(name)))
}
