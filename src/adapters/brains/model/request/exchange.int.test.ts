import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { boundedFetch, type Exchange } from './exchange.ts'

const closing: (() => void)[] = []

afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server that does as told; `connections` counts who came. */
async function serving(listener: RequestListener): Promise<{ url: string; connections(): number }> {
  const server = createServer(listener)
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, connections: () => connections }
}

const limits = { firstByteMs: 30_000, totalMs: 30_000, maxBytes: 10_000 }
const json = { 'content-type': 'application/json' }

/** What came of one request, and the text that the SDK would read. */
async function asked(url: string, init: RequestInit = {}): Promise<{ exchange: Exchange; read: string | undefined }> {
  const exchange: Exchange = {}
  try {
    const response = await boundedFetch(limits, exchange)(url, { method: 'POST', headers: json, body: '{"a":"ä"}', ...init })
    const { value } = (await response.body?.getReader().read()) ?? {}
    return { exchange, read: new TextDecoder().decode(value) }
  } catch {
    return { exchange, read: undefined }
  }
}

describe('an answer', () => {
  it('is read whole, and the same bytes are handed on', async () => {
    const bodies: string[] = []
    const { url } = await serving(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      bodies.push(`${request.method} ${request.url} ${request.headers['content-length']} ${Buffer.concat(parts)}`)
      response.writeHead(200, json).end('{"b":"ö"}')
    })
    expect(await asked(url)).toEqual({ exchange: { status: 200, body: '{"b":"ö"}' }, read: '{"b":"ö"}' })
    expect(bodies).toEqual(['POST /v1 10 {"a":"ä"}'])
  })

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is unpacked: %s', async (coding, pack) => {
    const { url } = await serving((_, response) => void response.writeHead(200, { ...json, 'content-encoding': coding }).end(pack('{}')))
    expect(await asked(url)).toMatchObject({ exchange: { body: '{}' }, read: '{}' })
  })

  it('that is packed and cut is none', async () => {
    const whole = gzipSync('{"verdict":"accept"}')
    for (let end = 0; end < whole.length; end += 1) {
      const { url } = await serving(
        (_, response) => void response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(whole.subarray(0, end)),
      )
      const { exchange, read } = await asked(url)
      expect([exchange.fault?.kind ?? read, exchange.body ?? '']).toEqual([end === 0 ? expect.anything() : 'network', ''])
    }
  })

  it('that is packed in a way that is not known is none', async () => {
    const { url } = await serving((_, response) => void response.writeHead(200, { ...json, 'content-encoding': 'gzip, gzip' }).end('{}'))
    expect(await asked(url)).toMatchObject({
      exchange: { fault: { kind: 'unusable', finish: 'packed in an unknown way' } },
      read: undefined,
    })
  })

  it('of two types is of neither', async () => {
    const { url } = await serving((_, response) => {
      response.setHeader('content-type', ['application/json', 'text/html'])
      response.end('{}')
    })
    expect(await asked(url)).toMatchObject({
      exchange: { fault: { kind: 'unusable', finish: 'content type application/json, text/html' } },
      read: undefined,
    })
  })

  it('that is not one, because the server hangs up, is a failed connection', async () => {
    const { url } = await serving((request) => void request.socket.destroy())
    expect(await asked(url)).toMatchObject({ exchange: { fault: { kind: 'network', unsent: false } }, read: undefined })
  })
})

it('connections are used again, also after an error, and hung up on where the rest of an answer is not wanted', async () => {
  let status = 200
  let size = 2
  const { url, connections } = await serving((_, response) => void response.writeHead(status, json).end('{}'.padEnd(size)))
  await asked(url)
  status = 500
  await asked(url)
  status = 200
  expect((await asked(url)).read).toBe('{}')
  expect(connections()).toBe(1)
  size = 1_000_000
  expect(await asked(url)).toMatchObject({ exchange: { fault: { kind: 'unusable', finish: 'longer than 10000 bytes' } } })
  size = 2
  expect((await asked(url)).read).toBe('{}')
  expect(connections()).toBe(2)
})

it('whoever has stopped already sends nothing', async () => {
  let requests = 0
  const { url } = await serving((_, response) => {
    requests += 1
    response.writeHead(200, json).end('{}')
  })
  expect((await asked(url, { signal: AbortSignal.abort() })).read).toBeUndefined()
  expect((await asked(url)).read).toBe('{}')
  expect(requests).toBe(1)
})
