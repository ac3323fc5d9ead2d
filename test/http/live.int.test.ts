import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { until } from '../front-door/processes.ts'
import { type OpenDoor, openDoor, ownerToken } from './open-door.ts'

/** Events of a stream of their own; views do not know it. */
async function append(engine: Engine, stream: string, count: number, text = ''): Promise<void> {
  const { journal } = engine.parts
  const events = Array.from({ length: count }, (_, index) => ({ type: 'note.made', v: 1, data: { index, text } }))
  const streams = [{ stream, expected: await journal.head(stream), events }]
  const appended = await journal.append({ streams, meta: { at: '2026-11-16T00:00:00.000Z', actor: 'test' } })
  expect(appended.ok).toBe(true)
}

interface Listening {
  request: ClientRequest
  response: IncomingMessage
  ids: number[]
  text(): string
  closed: Promise<void>
}

function listen({ server }: OpenDoor, path = '/v1/events', headers: Record<string, string> = {}): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, headers: { authorization: `Bearer ${ownerToken}`, ...headers } }
    const request = httpRequest(options, (response) => {
      const ids: number[] = []
      let rest = ''
      let all = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        all += chunk
        const frames = (rest + chunk).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) if (/^data: /m.test(frame)) ids.push(Number(/^id: (\d+)$/m.exec(frame)?.[1]))
      })
      response.on('error', () => request.destroy())
      const closed = new Promise<void>((ended) => response.once('close', ended))
      resolve({ request, response, ids, text: () => all, closed })
    })
    request.on('error', reject)
    request.end()
    onTestFinished(() => void request.destroy())
  })
}

const upTo = (count: number, from = 1): number[] => Array.from({ length: count }, (_, index) => from + index)

describe('the live stream', () => {
  it('tells what comes, and from the beginning to whoever asks', async () => {
    const door = await openDoor()
    await append(door.engine, 'notes/a', 5)
    const fromNow = await listen(door)
    const fromStart = await listen(door, '/v1/events?after=0')
    expect(fromNow.response.headers['content-type']).toBe('text/event-stream')
    await append(door.engine, 'notes/a', 5)
    await until('both have heard', () => fromNow.ids.length === 5 && fromStart.ids.length === 10)
    expect(fromNow.ids).toEqual(upTo(5, 6))
    expect(fromStart.ids).toEqual(upTo(10))
    expect(fromNow.text()).toContain('event: note.made\ndata: {"position":6,')
    const ahead = await listen(door, '/v1/events', { 'last-event-id': '99' })
    expect(ahead.response.statusCode).toBe(409)
    for (const id of ['x', '-1', '1.5', '1 2', '0x1', '9'.repeat(16)])
      expect((await door.ask('/v1/events', { headers: { 'last-event-id': id } })).json, id).toMatchObject({
        status: 400,
        code: 'invalid_request',
      })
    expect((await door.ask('/v1/events', { method: 'HEAD' })).status).toBe(405)
  })

  it('goes on after a lost connection without loss or doubles, while others write', async () => {
    const door = await openDoor()
    const total = 3000
    const writing = (async () => {
      for (let round = 0; round < 60; round += 1) {
        await append(door.engine, 'notes/a', total / 60, 'x'.repeat(500))
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    const heard: number[] = []
    let reconnects = 0
    while (heard.length < total) {
      const last = heard.at(-1) ?? 0
      const one = await listen(door, '/v1/events', { 'last-event-id': String(last) })
      await until('more came', () => one.ids.length > 0)
      // Cut at whatever was being said: only whole frames count.
      if (heard.length + one.ids.length < total) one.request.destroy()
      await Promise.race([one.closed, until('all came', () => heard.length + one.ids.length >= total || one.response.destroyed)])
      heard.push(...one.ids)
      one.request.destroy()
      reconnects += 1
    }
    await writing
    expect(reconnects).toBeGreaterThan(1)
    expect(heard).toEqual(upTo(total))
  })

  it('ends with the server, at once', async () => {
    const door = await openDoor()
    const reader = await listen(door)
    door.stop.abort()
    await door.server.close(10_000)
    await reader.closed
    expect(reader.response.complete).toBe(true)
  })

  it('costs nothing for readers who never read, and cuts them off', { timeout: 180_000 }, async () => {
    const door = await openDoor({ limits: { sseBuffer: 50 } })
    const deaf = await Promise.all(upTo(100).map(() => neverReading(door.server.port)))
    onTestFinished(() => {
      for (const socket of deaf) socket.destroy()
    })
    await until('all are readers', () => door.server.readers() === 100)
    const before = kept()
    let events = 0
    let most = 0
    const text = 'x'.repeat(64 * 1024)
    while (door.server.readers() > 0 && events < 2000) {
      await append(door.engine, 'notes/a', 5, text)
      events += 5
      // The journal of the test is in memory; what is left is what readers cost.
      if (events % 25 === 0) most = Math.max(most, kept() - before - events * text.length)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(door.server.readers()).toBe(0)
    expect(door.logged.filter((line) => line.includes('was cut off'))).toHaveLength(100)
    const bound = 48 * 1024 * 1024
    expect(most).toBeLessThan(bound)
    // A queue of fifty events for each would be many times that.
    expect(100 * 50 * text.length).toBeGreaterThan(6 * bound)
    const fresh = await listen(door, `/v1/events?after=${events - 1}`)
    await until('whoever reads is served as before', () => fresh.ids.length === 1)
  })
})

/** A connection that asks for the stream and then takes nothing from it. */
function neverReading(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, readableHighWaterMark: 1 } as never, () => {
      socket.pause()
      socket.write(`GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${ownerToken}\r\n\r\n`)
      resolve(socket)
    })
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? undefined : reject(error),
    )
  })
}

/** Bytes that this process holds on to, after everything that it could let go is gone. */
function kept(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
