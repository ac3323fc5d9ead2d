import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { refuse } from './answer/problem.ts'
import { problemReply } from './answer/reply.ts'
import { createApp } from './app.ts'
import { refusedAddress } from './authority/address.ts'
import type { Door } from './door.ts'
import { Jobs } from './jobs.ts'
import { EventHub } from './sse/hub.ts'
import type { HttpWorld } from './world.ts'

/** How long a client may take to send its headers, its whole request, and to say something more on an open connection. */
const headersMs = 15_000
const requestMs = 60_000
const idleMs = 10_000
const mostConnections = 2000

/** The live stream: readers at once, silence before a sign of life, and how long a reader may take nothing. */
const mostReaders = 500
const pingMs = 15_000
const stallMs = 60_000

export interface HttpServer {
  host: string
  port: number
  /** Readers of the live stream right now. */
  readers(): number
  /** No new requests; open ones may end within the grace time. Jobs have heard of the stop by their signal. */
  close(graceMs: number): Promise<void>
}

export async function serveHttp(world: HttpWorld, { host, port }: { host: string; port: number }): Promise<HttpServer> {
  const { journal, config } = world.engine.parts
  const hub = new EventHub(journal, {
    buffer: config.limits.sseBuffer,
    maxReaders: mostReaders,
    pingMs,
    stallMs,
    log: (line) => world.log(line),
  })
  const door: Door = { ...world, reviews: new Jobs(), submissions: new Jobs() }
  const app = createApp(door, hub)
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: { headersTimeout: headersMs, requestTimeout: requestMs, keepAliveTimeout: idleMs },
  }) as Server
  const listeners = server.listeners('request') as Listener[]
  server.removeAllListeners('request').on('request', (request, response) => {
    if (!refusedAtOnce(request, response, world.hosts)) for (const listener of listeners) listener(request, response)
  })
  server.maxConnections = mostConnections
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    host: address.address,
    port: address.port,
    readers: () => hub.readers,
    async close(graceMs) {
      const closed = once(server, 'close')
      server.close()
      await hub.close()
      server.closeIdleConnections()
      const late = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(late)
      await Promise.all([door.reviews.settled(), door.submissions.settled()])
    },
  }
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** An address that is not ours, or is none at all, is refused in our own words before anybody else reads it. */
function refusedAtOnce({ url: target, headers }: IncomingMessage, response: ServerResponse, hosts: readonly string[]): boolean {
  const site = headers['sec-fetch-site']
  const refused = refusedAddress({ target, host: headers.host, origin: headers.origin, site: site?.toString() }, hosts)
  if (!refused) return false
  const { status, headers: own, body } = problemReply(refuse(refused.code, refused.detail).refused)
  response.writeHead(status, { ...own, connection: 'close' }).end(body)
  return true
}
