import { request as httpRequest } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import type { z } from 'zod'
import { sha256Hex } from '../../src/contract/canonical.ts'
import { Engine } from '../../src/engine/engine.ts'
import { readProject } from '../../src/engine/project.ts'
import { eyesOf, handsOf } from '../../src/testing/engine/brains.ts'
import { openWorkshop } from '../../src/testing/engine/workshop.ts'
import type { Route } from '../../src/doors/http/route.ts'
import { routes } from '../../src/doors/http/routes/table.ts'
import { type HttpServer, serveHttp } from '../../src/doors/http/server.ts'

export const ownerToken = 'the owner of the test'.replaceAll(' ', '-')
export const workerToken = 'the worker ext of the test'.replaceAll(' ', '-')
export const otherToken = 'the worker other of the test'.replaceAll(' ', '-')

export const organisation = {
  brains: { hands: { kind: 'command', argv: ['x'] }, eyes: { kind: 'command', argv: ['x'] }, out: { kind: 'outside' } },
  agents: {
    dev: { role: 'engineer', brain: 'hands' },
    ext: { role: 'engineer', brain: 'out' },
    other: { role: 'engineer', brain: 'out' },
    qa: { role: 'reviewer', brain: 'eyes' },
  },
  review: { panel: { size: 1, quorum: 1 } },
}

export interface Heard {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** The body, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  json: any
}

export interface Asking {
  method?: string
  headers?: Record<string, string>
  /** Text as it is; anything else as JSON. */
  body?: unknown
  /** The owner's without it. */
  token?: string | null
}

export interface OpenDoor {
  engine: Engine
  server: HttpServer
  logged: string[]
  /** What the server is told when it is to stop. */
  stop: AbortController
  ask(path: string, asking?: Asking): Promise<Heard>
  /** A server that was started anew on the same journal: it remembers nothing else. */
  another(): Promise<OpenDoor['ask']>
}

/** A real server on a loopback port, over an engine whose judge says what the test wants. Gone after the test. */
export async function openDoor(settings: object = {}, judge: () => string | undefined = () => 'SCORE: 80'): Promise<OpenDoor> {
  const config = { ...organisation, ...settings }
  const workshop = openWorkshop({ config, brains: { hands: handsOf(() => 'done'), eyes: eyesOf(judge), out: handsOf(() => '') } })
  const project = readProject({ text: JSON.stringify(config), file: 'assay.yaml', env: {}, flags: {} })
  if (!project.ok) throw new Error(JSON.stringify(project.error))
  const engine = new Engine({ ...workshop.parts, ownerToken: sha256Hex(ownerToken) })
  const logged: string[] = []
  const stop = new AbortController()
  const world = {
    engine,
    project: project.value,
    version: '0.0.0',
    ownerName: 'olga',
    workers: new Map([
      [sha256Hex(workerToken), 'ext'],
      [sha256Hex(otherToken), 'other'],
    ]),
    hosts: ['localhost', '127.0.0.1', '[::1]'],
    digestNow: async () => undefined,
    prove: async () => ({ events: 0, streams: 0, objects: 0, checkpoint: null, rollback: false, breaks: [] }),
    running: () => ({ running: [], otherPolicy: [] }),
    log: (line: string) => logged.push(line),
    stop: stop.signal,
  }
  const servers: HttpServer[] = []
  const serve = async () => {
    const server = await serveHttp(world, { host: '127.0.0.1', port: 0 })
    servers.push(server)
    return server
  }
  const server = await serve()
  onTestFinished(async () => {
    stop.abort()
    for (const one of servers) await one.close(1000)
    await engine.close()
    workshop.remove()
  })
  return {
    engine,
    server,
    logged,
    stop,
    ask: (path, asking) => ask(server.port, path, asking),
    another: async () => {
      const { port } = await serve()
      return (path, asking) => ask(port, path, asking)
    },
  }
}

/** One request, with whatever headers: `fetch` would not let a test lie about its host. */
export function ask(port: number, path: string, { method, headers = {}, body, token = ownerToken }: Asking = {}): Promise<Heard> {
  const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: method ?? (sent === undefined ? 'GET' : 'POST'),
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(sent !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(sent)) }),
          ...headers,
        },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => {
          const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== ''
          if (isJson && (response.statusCode ?? 0) < 300) conforms(method ?? (sent === undefined ? 'GET' : 'POST'), path, JSON.parse(text))
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined })
        })
      },
    )
    request.on('error', reject)
    request.end(sent)
  })
}

/** What a route answers is what its document says it answers. */
function conforms(method: string, path: string, body: unknown): void {
  const [plain = ''] = path.split('?')
  const fits = (route: Route) => new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(plain)
  const route = routes.find((one) => one.method === method.toLowerCase() && fits(one))
  if (route && typeof route.reply === 'object') expect(() => (route.reply as z.ZodType).parse(body), `${method} ${plain}`).not.toThrow()
}
