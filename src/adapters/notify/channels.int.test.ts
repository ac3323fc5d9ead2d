import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { Channel } from '../../contract/config/notify.ts'
import { messageOf } from '../../core/notify/message.ts'
import { noteOf } from '../../core/notify/note.ts'
import type { Sent } from '../../ports/notifier.ts'
import { desktopNotifier } from './desktop.ts'
import { openNotifier } from './open.ts'
import { answering, hanging, startHttpReceiver } from './testing/http-receiver.ts'
import { startSmtpSink } from './testing/smtp-sink.ts'

const timeout = 60_000
const never = new AbortController().signal
const secret = `whsec_${Buffer.from('a signing secret of 32 bytes....').toString('base64')}`
const event = {
  stream: 'gate/m-1/code-review',
  version: 3,
  type: 'quality.gate.failed',
  data: { missionId: 'm-1', gateName: 'code-review\r\nBcc: x@example.org', reason: 'below 4 <!here>\r\nBcc: evil@example.org', weak: [] },
  at: '2026-11-16T00:00:00.000Z',
}

interface Sending {
  env?: Record<string, string>
  timeoutMs?: number
  signal?: AbortSignal
  pagerdutyURL?: string
  stderr?: NodeJS.WritableStream
}

async function send(written: object, { env = {}, timeoutMs = 20_000, signal = never, pagerdutyURL, stderr }: Sending = {}): Promise<Sent> {
  const channel = Channel.parse(written)
  const options = { env, timeoutMs, stderr: stderr ?? process.stderr, ...(pagerdutyURL !== undefined && { pagerdutyURL }) }
  const notifier = await openNotifier(channel, options)
  return notifier.send(messageOf(noteOf(event, 'm-1'), channel.kind, 'urn:assay:journal:test'), signal)
}

describe('a webhook', () => {
  it('gets a CloudEvent that its receiver can verify; a flipped bit, another id or an old time is refused', { timeout }, async () => {
    await using receiver = await startHttpReceiver(answering(204))
    expect(await send({ kind: 'webhook', url: receiver.url, secretEnv: 'HOOK' }, { env: { HOOK: secret } })).toEqual({ ok: true })
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
    expect(headers['content-type']).toBe('application/cloudevents+json')
    const signed = headers as Record<string, string>
    const webhook = new Webhook(secret)
    expect(webhook.verify(body, signed)).toMatchObject({ type: 'dev.assay.quality.gate.failed.v1', id: 'gate/m-1/code-review@3' })
    expect(() => webhook.verify(body.replace('below', 'bElow'), signed)).toThrow('No matching signature')
    expect(() => webhook.verify(body, { ...signed, 'webhook-id': 'msg_other' })).toThrow('No matching signature')
    expect(() => webhook.verify(body, { ...signed, 'webhook-timestamp': '1000' })).toThrow('too old')
    expect(() => webhook.verify(JSON.stringify(JSON.parse(body), null, 1), signed)).toThrow('No matching signature')
  })

  it('is signed with the old and the new secret while they are exchanged', { timeout }, async () => {
    await using receiver = await startHttpReceiver()
    const next = `whsec_${Buffer.from('the next secret of 32 bytes.....').toString('base64')}`
    await send({ kind: 'webhook', url: receiver.url, secretEnv: 'HOOK' }, { env: { HOOK: `${secret} ${next}` } })
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
    for (const one of [secret, next])
      expect(new Webhook(one).verify(body, headers as Record<string, string>)).toMatchObject({ specversion: '1.0' })
  })

  it('keeps its id over deliveries', { timeout }, async () => {
    await using receiver = await startHttpReceiver(answering(500))
    const channel = { kind: 'webhook', urlEnv: 'WHERE' }
    expect(await send(channel, { env: { WHERE: receiver.url } })).toEqual({ ok: false, retry: true, detail: 'it answered 500' })
    receiver.answer = answering(200)
    expect(await send(channel, { env: { WHERE: receiver.url } })).toEqual({ ok: true })
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
    expect(receiver.received[0]?.body).toBe(receiver.received[1]?.body)
  })

  it.each([
    [400, false],
    [401, false],
    [404, false],
    [410, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ])('that answers %i is tried again: %s', { timeout }, async (status, retry) => {
    await using receiver = await startHttpReceiver(answering(status, {}, 'its own words'))
    expect(await send({ kind: 'webhook', url: receiver.url })).toEqual({ ok: false, retry, detail: `it answered ${status}` })
  })

  it('that asks for a pause is given it, within bounds', { timeout }, async () => {
    await using receiver = await startHttpReceiver(answering(429, { 'retry-after': '120' }))
    expect(await send({ kind: 'webhook', url: receiver.url })).toMatchObject({ retry: true, afterMs: 120_000 })
    receiver.answer = answering(503, { 'retry-after': '99999999' })
    expect(await send({ kind: 'webhook', url: receiver.url })).toMatchObject({ afterMs: 3_600_000 })
  })

  it.each([301, 302, 303, 307, 308])('that redirects (%i) to a private address is not followed', { timeout }, async (status) => {
    await using inside = await startHttpReceiver()
    await using receiver = await startHttpReceiver(answering(status, { location: inside.url }))
    const sent = await send({ kind: 'webhook', url: receiver.url, secretEnv: 'HOOK' }, { env: { HOOK: secret } })
    expect(sent).toMatchObject({ ok: false, retry: false, detail: expect.stringContaining('redirects are not followed') })
    expect(receiver.received).toHaveLength(1)
    expect(inside.received).toEqual([])
  })

  it('that hangs, drips or floods is bounded', { timeout }, async () => {
    await using receiver = await startHttpReceiver(hanging)
    const channel = { kind: 'webhook', url: receiver.url }
    expect(await send(channel, { timeoutMs: 300 })).toEqual({ ok: false, retry: true, detail: 'no answer within 0.3 s' })
    receiver.answer = (response) => {
      const dripping = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(dripping))
    }
    expect(await send(channel, { timeoutMs: 500 })).toMatchObject({ ok: false, retry: true })
    let written = 0
    receiver.answer = (response) => {
      const chunk = Buffer.alloc(256 * 1024)
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length
      }
      response.on('drain', more)
      more()
    }
    expect(await send(channel)).toEqual({ ok: true })
    expect(written).toBeLessThan(64 * 1024 * 1024)
    expect(receiver.received).toHaveLength(3)
  })

  it('that refuses the connection, or is not there, is tried again; a stop ends the try', { timeout }, async () => {
    const port = await freePort()
    expect(await send({ kind: 'webhook', url: `http://127.0.0.1:${port}/x` })).toEqual({
      ok: false,
      retry: true,
      detail: 'it could not be reached (ECONNREFUSED)',
    })
    await using receiver = await startHttpReceiver(hanging)
    const stopped = await send({ kind: 'webhook', url: receiver.url }, { signal: AbortSignal.timeout(200) })
    expect(stopped).toMatchObject({ ok: false, retry: true, detail: 'stopped before an answer came' })
  })

  it('whose variables are missing or wrong is refused by their names, never by their values', { timeout }, async () => {
    const canary = 'CANARY-not-to-be-seen'
    const wrong: [object, Record<string, string>][] = [
      [{ kind: 'webhook', urlEnv: 'WHERE' }, {}],
      [{ kind: 'webhook', urlEnv: 'WHERE' }, { WHERE: canary }],
      [{ kind: 'webhook', urlEnv: 'WHERE' }, { WHERE: `file:///${canary}` }],
      [{ kind: 'webhook', urlEnv: 'WHERE' }, { WHERE: `https://user:${canary}@127.0.0.1/` }],
      [{ kind: 'webhook', url: 'http://127.0.0.1:9/', secretEnv: 'WHERE' }, { WHERE: `!!${canary}` }],
      [{ kind: 'slack', urlEnv: 'WHERE' }, { WHERE: canary }],
      [{ kind: 'pagerduty', routingKeyEnv: 'WHERE' }, {}],
      [{ kind: 'email', host: '127.0.0.1', from: 'a@b.c', to: ['d@e.f'], userEnv: 'WHERE' }, {}],
    ]
    for (const [channel, env] of wrong) {
      const sent = await send(channel, { env })
      expect(sent, JSON.stringify(channel)).toMatchObject({ ok: false, retry: false, detail: expect.stringContaining('WHERE') })
      expect(JSON.stringify(sent)).not.toContain(canary)
    }
  })
})

describe('Slack and PagerDuty', () => {
  it('get their own forms, with the key where it belongs', { timeout }, async () => {
    await using receiver = await startHttpReceiver(answering(202))
    expect(await send({ kind: 'slack', urlEnv: 'S' }, { env: { S: receiver.url } })).toEqual({ ok: true })
    expect(await send({ kind: 'pagerduty', routingKeyEnv: 'P' }, { env: { P: 'r-key' }, pagerdutyURL: receiver.url })).toEqual({ ok: true })
    const [slack, pager] = receiver.received.map(({ body }) => JSON.parse(body))
    expect(slack.blocks[0]).toMatchObject({
      type: 'header',
      text: { type: 'plain_text', text: 'Quality gate failed: code-review Bcc: x@example.org' },
    })
    expect(pager).toMatchObject({ routing_key: 'r-key', event_action: 'trigger', payload: { severity: 'error' } })
  })

  it("pass on Slack's own words and nobody else's", { timeout }, async () => {
    await using receiver = await startHttpReceiver(answering(400, {}, 'invalid_blocks'))
    const channel = { kind: 'slack', urlEnv: 'S' }
    expect(await send(channel, { env: { S: receiver.url } })).toMatchObject({ detail: 'it answered 400: invalid_blocks' })
    receiver.answer = answering(400, {}, 'secret_words_of_a_liar')
    expect(await send(channel, { env: { S: receiver.url } })).toMatchObject({ detail: 'it answered 400' })
  })
})

describe('e-mail', () => {
  const channel = { kind: 'email', host: '127.0.0.1', from: 'Assay <assay@example.org>', to: ['a@example.org', 'b@example.org'] }

  it('is taken by a mail server, once for all recipients, with the same Message-ID every time', { timeout }, async () => {
    await using sink = await startSmtpSink()
    for (let tries = 0; tries < 2; tries += 1) expect(await send({ ...channel, port: sink.port })).toEqual({ ok: true })
    const [letter, again] = sink.letters
    expect(letter?.to).toHaveLength(2)
    expect(letter?.text).toMatch(/^Subject: Quality gate failed: code-review Bcc: x@example\.org$/m)
    expect(letter?.text.split('\n\n')[0]).not.toMatch(/^Bcc:/m)
    const idOf = (text = '') => /^Message-ID: (.*)$/im.exec(text)?.[1]
    expect(idOf(letter?.text)).toMatch(/^<msg_[0-9a-f]+@example\.org>$/)
    expect(idOf(again?.text)).toBe(idOf(letter?.text))
  })

  it('logs in with what the environment holds', { timeout }, async () => {
    await using sink = await startSmtpSink()
    const login = { ...channel, port: sink.port, userEnv: 'U', passwordEnv: 'P' }
    expect(await send(login, { env: { U: 'me', P: 'word' } })).toEqual({ ok: true })
    const plain = sink.commands.find((line) => line.startsWith('AUTH PLAIN '))?.slice('AUTH PLAIN '.length) ?? ''
    expect(Buffer.from(plain, 'base64').toString()).toBe('\0me\0word')
  })

  it.each([
    ['refuses the password', { answers: { AUTH: '535 CANARY no' } }, false],
    ['refuses a recipient for good', { answers: { RCPT: '550 CANARY no such user' } }, false],
    ['is busy', { answers: { MAIL: '451 CANARY later' } }, true],
    ['closes at once', { greeting: '421 CANARY too many' }, true],
  ])('that %s is a failure in our words', { timeout }, async (_what, options, retry) => {
    await using sink = await startSmtpSink(options)
    const sent = await send({ ...channel, port: sink.port, userEnv: 'U', passwordEnv: 'P' }, { env: { U: 'me', P: 'CANARY-word' } })
    expect(sent).toMatchObject({ ok: false, retry })
    expect(JSON.stringify(sent)).not.toMatch(/CANARY|d29yZA/)
    expect(sink.letters).toEqual([])
  })

  it.each([
    ['never greets', { greeting: null }],
    ['goes quiet in the middle', { answers: { DATA: null } }],
  ])('to a server that %s ends with the deadline', { timeout }, async (_what, options) => {
    await using sink = await startSmtpSink(options)
    const sent = await send({ ...channel, port: sink.port }, { timeoutMs: 500 })
    expect(sent).toEqual({ ok: false, retry: true, detail: 'the mail server took longer than 0.5 s' })
  })

  it('to a server that is not there is tried again; a stop ends it', { timeout }, async () => {
    expect(await send({ ...channel, port: await freePort() })).toMatchObject({
      ok: false,
      retry: true,
      detail: expect.stringContaining('ECONNREFUSED'),
    })
    await using sink = await startSmtpSink({ greeting: null })
    expect(await send({ ...channel, port: sink.port }, { signal: AbortSignal.timeout(200) })).toMatchObject({ retry: true })
    expect(await send({ ...channel, port: sink.port }, { signal: AbortSignal.abort() })).toMatchObject({ retry: true })
  })
})

describe('this machine', () => {
  const message = messageOf(noteOf(event, 'm-1'), 'desktop', 'urn:assay:journal:test')

  it('shows a notification by the program that is there; its words are arguments, never markup or script', { timeout }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-desktop-'))
    try {
      for (const name of ['notify-send', 'osascript']) {
        writeFileSync(join(folder, name), `#!/bin/sh\n{ printf '%s\\n' "$@"; env; } > ${join(folder, 'seen')}\n`)
        chmodSync(join(folder, name), 0o755)
      }
      const env = { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':7', CANARY: 'canary-value' }
      expect(await desktopNotifier(env, 20_000, 'linux').send(message, never)).toEqual({ ok: true })
      const seen = readFileSync(join(folder, 'seen'), 'utf8')
      expect(seen).toContain('--\nQuality gate failed: code-review Bcc: x@example.org\nbelow 4 &lt;!here&gt;')
      expect(seen).toContain('DISPLAY=:7')
      expect(seen).not.toContain('canary-value')
      expect(await desktopNotifier(env, 20_000, 'darwin').send(message, never)).toEqual({ ok: true })
      expect(readFileSync(join(folder, 'seen'), 'utf8')).toContain('end run\nQuality gate failed: code-review Bcc: x@example.org\n')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('without the program says so and is not asked again', { timeout }, async () => {
    const sent = await desktopNotifier({ PATH: '/nowhere' }, 20_000, 'linux').send(message, never)
    expect(sent).toEqual({
      ok: false,
      retry: false,
      detail: 'notify-send could not be started (ENOENT); it comes with the package libnotify-bin',
    })
    expect(await desktopNotifier({}, 20_000, 'win32').send(message, never)).toMatchObject({ ok: false, retry: false })
  })

  it('gets one line on standard error, whatever the words hold', { timeout }, async () => {
    let text = ''
    const stderr = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk)
        done()
      },
    })
    expect(await send({ kind: 'stderr' }, { stderr })).toEqual({ ok: true })
    expect(text).toBe('assay: [error] Quality gate failed: code-review Bcc: x@example.org: below 4 <!here> Bcc: evil@example.org\n')
    const closed = new Writable({ write: (_chunk, _encoding, done) => done(new Error('gone')) })
    closed.on('error', (error) => expect(error.message).toBe('gone'))
    expect(await send({ kind: 'stderr' }, { stderr: closed })).toMatchObject({ ok: false, retry: false })
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
