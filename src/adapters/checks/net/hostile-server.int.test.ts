import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { guardedFetch } from './guarded-fetch.ts'
import type { FetchRules } from './rules.ts'

const mib = 1024 * 1024
const never = new AbortController().signal
const rules: FetchRules = { timeoutMs: 60_000, allowPrivate: true, maxBytes: mib }
const open: { server: Server; sockets: Set<Socket> }[] = []

async function addressOf(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket))))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({ server, sockets })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
})
const serving = (handler: RequestListener) => addressOf(createHttpServer(handler))
/** Sends bytes that no library would. */
const sending = (talk: (socket: Socket) => void) => addressOf(createServer((socket) => void socket.once('data', () => talk(socket))))

describe('a body', () => {
  const packed = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync }

  it.each(Object.entries(packed))('is unpacked: %s', async (encoding, pack) => {
    const url = await serving((_request, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(pack('hello')))
    const fetched = await guardedFetch(url, rules, never)
    expect(fetched.ok && fetched.body.toString()).toBe('hello')
  })

  it.each(Object.entries(packed))('of fifty megabytes in a few kilobytes costs little: %s', async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(50 * mib))
    expect(bomb.length).toBeLessThan(60_000)
    let sent = 0
    const url = await serving((_request, response) => {
      sent++
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb)
    })
    const before = process.memoryUsage().rss
    for (let round = 0; round < 5; round++) {
      expect(await guardedFetch(url, rules, never)).toMatchObject({ code: 'body_too_large', message: expect.stringContaining(`${mib}`) })
    }
    expect(sent).toBe(5)
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * mib)
  })

  it('without an end is cut off', async () => {
    let written = 0
    const url = await serving((_request, response) => {
      const more = (): void => {
        if (response.destroyed) return
        written += 65_536
        if (response.write(Buffer.alloc(65_536))) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    })
    expect(await guardedFetch(url, rules, never)).toMatchObject({ code: 'body_too_large' })
    expect(written).toBeGreaterThan(mib)
    expect(written).toBeLessThan(100 * mib)
  })

  it('of exactly as much as is read, is read', async () => {
    const url = await serving((_request, response) => void response.end(Buffer.alloc(mib)))
    expect(await guardedFetch(url, rules, never)).toMatchObject({ ok: true, status: 200 })
    expect(await guardedFetch(url, { ...rules, maxBytes: mib - 1 }, never)).toMatchObject({ code: 'body_too_large' })
  })

  it('packed twice, in an unknown way, wrongly or in part is refused', async () => {
    const whole = gzipSync(Buffer.from('hello '.repeat(1000)))
    const cases: [string, Buffer][] = [
      ['gzip, gzip', gzipSync(whole)],
      ['zstd', Buffer.from('x')],
      ['constructor', Buffer.from('x')],
      ['gzip', Buffer.from('not packed at all')],
      ['gzip', whole.subarray(0, whole.length - 20)],
      ['deflate', deflateRawSync('hello')],
      ['br', Buffer.from('not packed at all')],
    ]
    for (const [encoding, body] of cases) {
      const url = await serving((_request, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(body))
      expect(await guardedFetch(url, rules, never), encoding).toMatchObject({ ok: false, code: 'bad_encoding' })
    }
  })

  it('that breaks off is no body', async () => {
    let talked = 0
    const url = await sending((socket) => {
      talked++
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly this')
    })
    expect(await guardedFetch(url, rules, never)).toMatchObject({ code: 'no_answer' })
    expect(talked).toBe(1)
  })

  it('of a redirect that is followed is not waited for', async () => {
    const url = await serving((request, response) => {
      if (request.url === '/end') response.end('end')
      else response.writeHead(302, { location: '/end' }).write('without an end')
    })
    expect(await guardedFetch(url, { ...rules, redirects: 1 }, never)).toMatchObject({ ok: true, status: 200 })
  })
})

describe('a slow server', () => {
  const trickle = (head: string) =>
    sending((socket) => {
      socket.write(head)
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
    })

  it.each([
    ['the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n'],
    ['a header', 'HTTP/1.1 200 OK\r\nx-slow: '],
    ['the status', 'HTTP/1.1 200 '],
  ])('that trickles %s is left at the deadline', async (_what, head) => {
    const url = await trickle(head)
    expect(await guardedFetch(url, { ...rules, timeoutMs: 400 }, never)).toMatchObject({
      code: 'timed_out',
      message: 'no complete answer within 400 ms',
      hops: [{ url }],
    })
  })

  it('that says nothing is left at the deadline, or when nobody wants to know any longer', async () => {
    let connected = 0
    const stop = new AbortController()
    const url = await sending(() => {
      connected++
      if (connected === 2) stop.abort()
    })
    expect(await guardedFetch(url, { ...rules, timeoutMs: 300 }, never)).toMatchObject({ code: 'timed_out' })
    expect(await guardedFetch(url, rules, stop.signal)).toMatchObject({ code: 'stopped' })
    expect(connected).toBe(2)
  })

  it('that never ends the handshake of TLS is left at the deadline, and the connection with it', async () => {
    const closed: Promise<unknown>[] = []
    const stop = new AbortController()
    const url = await addressOf(
      createServer((socket) => {
        closed.push(new Promise((resolve) => socket.once('close', resolve)))
        socket.resume()
        if (closed.length === 2) stop.abort()
      }),
    )
    const secure = url.replace('http:', 'https:')
    expect(await guardedFetch(secure, { ...rules, timeoutMs: 300 }, never)).toMatchObject({ code: 'timed_out' })
    expect(await guardedFetch(secure, rules, stop.signal)).toMatchObject({ code: 'stopped' })
    expect(await Promise.all(closed)).toHaveLength(2)
  })

  it('that hints at more to come without end is left at the deadline', async () => {
    const url = await sending((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n'), 10)
      socket.on('close', () => clearInterval(timer))
    })
    expect(await guardedFetch(url, { ...rules, timeoutMs: 400 }, never)).toMatchObject({ code: 'timed_out' })
  })
})

describe('headers', () => {
  it.each([
    ['one that is too long', `x-long: ${'a'.repeat(100_000)}`],
    ['too many', Array.from({ length: 5_000 }, (_unused, index) => `x-${index}: value`).join('\r\n')],
  ])('are refused: %s', async (_what, lines) => {
    let talked = 0
    const url = await sending((socket) => {
      talked++
      socket.end(`HTTP/1.1 200 OK\r\n${lines}\r\ncontent-length: 0\r\n\r\n`)
    })
    expect(await guardedFetch(url, rules, never)).toMatchObject({ code: 'headers_too_large' })
    expect(talked).toBe(1)
  })

  it.each([
    'nothing like HTTP\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    'HTTP/1.1 99999 OK\r\n\r\n',
    '',
  ])('that are none give no answer: %j', async (answer) => {
    const url = await sending((socket) => void socket.end(answer))
    expect(await guardedFetch(url, rules, never)).toMatchObject({ code: 'no_answer' })
  })

  it('are found by name, repeated ones joined', async () => {
    const url = await serving((_request, response) => void response.writeHead(200, { 'X-One': 'a', 'set-cookie': ['b=1', 'c=2'] }).end())
    const fetched = await guardedFetch(url, rules, never)
    expect(fetched.ok && [fetched.headers.get('x-one'), fetched.headers.get('set-cookie')]).toEqual(['a', 'b=1, c=2'])
  })
})
