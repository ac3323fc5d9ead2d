import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openNotifier } from '../src/adapters/notify/open.ts'
import { answering, hanging, startHttpReceiver } from '../src/adapters/notify/testing/http-receiver.ts'
import { startSmtpSink } from '../src/adapters/notify/testing/smtp-sink.ts'
import { openSqliteJournal } from '../src/adapters/sqlite/journal.ts'
import { Config } from '../src/contract/config/config.ts'
import type { Channel } from '../src/contract/config/notify.ts'
import { flushNotifications } from '../src/engine/notify/flush.ts'
import { notificationsFor } from '../src/engine/notify/outbox.ts'
import { deadLetters, notifyViews } from '../src/engine/notify/views.ts'
import type { Journal } from '../src/ports/journal.ts'

const timeout = 120_000
const never = new AbortController().signal
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-notify-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const openJournal = (clock = { now: Date.now }) => openSqliteJournal({ path: join(folder, 'assay.db'), views: notifyViews, clock })

/** Appends the failure of a gate with what is to be told of it, in one transaction. */
async function failGate(journal: Journal, config: Config, name: string, gateChannels: string[] = []): Promise<void> {
  const stream = `gate/m-1/${name}`
  const data = { missionId: 'm-1', gateName: name, reason: 'below 4', weak: ['m-1/build'] }
  const version = (await journal.head(stream)) + 1
  const at = new Date().toISOString()
  const appended = await journal.append({
    streams: [{ stream, expected: version - 1, events: [{ type: 'quality.gate.failed', v: 1, data }] }],
    meta: { at, actor: 'runtime' },
    enqueue: notificationsFor([{ stream, version, type: 'quality.gate.failed', data, at }], config, gateChannels),
  })
  expect(appended.ok).toBe(true)
}

function partsOf(
  journal: Journal,
  config: Config,
  env: Record<string, string>,
  more: { stderr?: NodeJS.WritableStream; pagerdutyURL?: string; timeoutMs?: number } = {},
) {
  const stderr = more.stderr ?? process.stderr
  const clock = { now: Date.now }
  return { journal, config, clock, openNotifier: (channel: Channel) => openNotifier(channel, { env, timeoutMs: 20_000, ...more, stderr }) }
}

const flush = (parts: ReturnType<typeof partsOf>, owner = 'second') => flushNotifications(parts, { owner, withinMs: 60_000, stop: never })

describe('a process that is killed in the middle of a delivery', () => {
  it('loses nothing: the next one delivers, under the same id, once for each gate', { timeout }, async () => {
    await using receiver = await startHttpReceiver(hanging)
    const secret = `whsec_${Buffer.from('a signing secret of 32 bytes....').toString('base64')}`
    const written = { notify: { channels: { hook: { kind: 'webhook', url: receiver.url, secretEnv: 'HOOK' } } } }
    const config = Config.parse(written)
    const journal = await openJournal()
    await failGate(journal, config, 'first', ['hook'])
    await failGate(journal, config, 'second', ['hook'])
    await journal.close()
    const src = new URL('../src/', import.meta.url).href
    const script = `
      import { openNotifier } from '${src}adapters/notify/open.ts'
      import { openSqliteJournal } from '${src}adapters/sqlite/journal.ts'
      import { Config } from '${src}contract/config/config.ts'
      import { flushNotifications } from '${src}engine/notify/flush.ts'
      import { notifyViews } from '${src}engine/notify/views.ts'
      const journal = await openSqliteJournal({ path: ${JSON.stringify(join(folder, 'assay.db'))}, views: notifyViews })
      const openOne = (channel) => openNotifier(channel, { env: process.env, stderr: process.stderr, timeoutMs: 60000 })
      const parts = { journal, config: Config.parse(${JSON.stringify(written)}), clock: { now: Date.now }, openNotifier: openOne }
      await flushNotifications(parts, { owner: 'killed', withinMs: 60000, stop: new AbortController().signal })
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: 'inherit',
      env: { ...process.env, HOOK: secret },
    })
    try {
      await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(2)
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    receiver.answer = answering(200)
    const again = await openJournal()
    try {
      expect(await flush(partsOf(again, config, { HOOK: secret }))).toBe(0)
      expect(await again.reclaim((owner) => owner === 'killed')).toBe(2)
      expect(await flush(partsOf(again, config, { HOOK: secret }))).toBe(2)
      expect(await flush(partsOf(again, config, { HOOK: secret }))).toBe(0)
      const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
      expect(new Set(ids.slice(2))).toEqual(new Set(ids.slice(0, 2)))
      expect(new Set(ids).size).toBe(2)
      for (const { headers, body } of receiver.received)
        expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
          type: 'dev.assay.quality.gate.failed.v1',
        })
      const events = await again.read(0, 100)
      expect(events.filter(({ type }) => type === 'notification.delivered')).toHaveLength(2)
      expect((await again.verify()).breaks).toEqual([])
      expect(await again.compareViews()).toEqual([])
    } finally {
      await again.close()
    }
  })
})

describe('a cooldown', () => {
  it('goes on over a restart', { timeout }, async () => {
    await using receiver = await startHttpReceiver()
    const config = Config.parse({
      notify: {
        channels: { hook: { kind: 'webhook', url: receiver.url } },
        rules: [{ events: ['quality.gate.*'], channels: ['hook'], cooldown: '1h' }],
      },
    })
    for (let restarts = 0; restarts < 3; restarts += 1) {
      const journal = await openJournal()
      await failGate(journal, config, 'same')
      expect(await flush(partsOf(journal, config, {}))).toBe(1)
      await journal.close()
    }
    expect(receiver.received).toHaveLength(1)
  })
})

describe('receivers of every sort at once', () => {
  it('end in a delivery, a later try or a dead letter; none holds up another, none throws', { timeout }, async () => {
    await using good = await startHttpReceiver()
    await using silent = await startHttpReceiver(hanging)
    await using broken = await startHttpReceiver(answering(500))
    await using inside = await startHttpReceiver()
    await using moved = await startHttpReceiver(answering(307, { location: inside.url }))
    await using mail = await startSmtpSink()
    await using quietMail = await startSmtpSink({ greeting: null })
    const letter = { kind: 'email', host: '127.0.0.1', from: 'a@example.org', to: ['b@example.org'] }
    const hook = (url: string) => ({ kind: 'webhook', url })
    const channels = {
      good: hook(good.url),
      silent: hook(silent.url),
      broken: hook(broken.url),
      moved: hook(moved.url),
      closed: hook('http://127.0.0.1:1/'),
      mail: { ...letter, port: mail.port },
      quietMail: { ...letter, port: quietMail.port },
    }
    const config = Config.parse({ notify: { channels, rules: [{ events: ['*'], channels: Object.keys(channels) }] } })
    const journal = await openJournal()
    try {
      await failGate(journal, config, 'g')
      expect(await flush(partsOf(journal, config, {}, { timeoutMs: 3000 }))).toBe(7)
      const ends = (await journal.read(0, 100)).filter(({ type }) => type.startsWith('notification.'))
      expect(ends.map(({ type, data }) => `${(data as { channel: string }).channel} ${type}`).sort()).toEqual([
        'good notification.delivered',
        'mail notification.delivered',
        'moved notification.failed',
      ])
      expect(await deadLetters(journal)).toMatchObject([{ channel: 'moved', tries: 1 }])
      expect(await journal.workCount()).toEqual({ due: 0, leased: 0, later: 4 })
      expect(inside.received).toEqual([])
      expect([silent.received.length, broken.received.length, moved.received.length]).toEqual([1, 1, 1])
    } finally {
      await journal.close()
    }
  })
})

describe('secrets', () => {
  it('20 canaries: each is seen where it is configured to be, and nowhere else', { timeout }, async () => {
    const canaries = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`CANARY_${index}`, `canary${index}q7Zx${index}end`]))
    const named = (index: number) => canaries[`CANARY_${index}`] as string
    await using http = await startHttpReceiver()
    await using failing = await startHttpReceiver((response, { path, body }) => response.writeHead(403).end(path + body))
    await using mail = await startSmtpSink()
    await using deafMail = await startSmtpSink({ answers: { AUTH: `535 no ${named(4)} ${named(5)}` } })
    const at = (url: string, index: number) => `${url}/${named(index)}`
    const env = {
      ...canaries,
      CANARY_0: at(http.url, 0),
      CANARY_2: at(http.url, 2),
      CANARY_3: `whsec_${Buffer.from(named(3)).toString('base64')}`,
      CANARY_6: at(failing.url, 6),
      CANARY_7: at('http://127.0.0.1:1', 7),
    }
    const letter = {
      kind: 'email',
      host: '127.0.0.1',
      from: 'a@example.org',
      to: ['b@example.org'],
      userEnv: 'CANARY_4',
      passwordEnv: 'CANARY_5',
    }
    const channels = {
      slack: { kind: 'slack', urlEnv: 'CANARY_0' },
      pager: { kind: 'pagerduty', routingKeyEnv: 'CANARY_1' },
      hook: { kind: 'webhook', urlEnv: 'CANARY_2', secretEnv: 'CANARY_3' },
      mail: { ...letter, port: mail.port },
      deafMail: { ...letter, port: deafMail.port },
      refused: { kind: 'webhook', urlEnv: 'CANARY_6' },
      unreachable: { kind: 'slack', urlEnv: 'CANARY_7' },
      wrong: { kind: 'webhook', urlEnv: 'CANARY_8', secretEnv: 'CANARY_9' },
      screen: { kind: 'desktop' },
      terminal: { kind: 'stderr' },
    }
    const config = Config.parse({ notify: { channels, maxRetries: 0, rules: [{ events: ['*'], channels: Object.keys(channels) }] } })
    let printed = ''
    const stderr = new Writable({
      write(chunk, _encoding, done) {
        printed += String(chunk)
        done()
      },
    })
    const journal = await openJournal()
    await failGate(journal, config, 'g')
    await flush(partsOf(journal, config, { ...env, PATH: '/nowhere' }, { stderr, pagerdutyURL: http.url }))
    const letters = await deadLetters(journal)
    expect(letters.map(({ channel }) => channel).sort()).toEqual(['deafMail', 'refused', 'screen', 'unreachable', 'wrong'])
    await journal.close()
    const stored = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'))
    expect(stored.join('')).toContain('notification.failed')
    const everywhere = [printed, JSON.stringify(letters), ...stored].join('\n')
    const bodies = [...http.received, ...failing.received]
    expect(bodies).toHaveLength(4)
    const paths = bodies.map(({ path }) => path).join('\n')
    const payloads = bodies.map(({ headers, body }) => JSON.stringify(headers) + body).join('\n')
    const mails = JSON.stringify([mail.letters, deafMail.letters])
    for (let index = 0; index < 20; index += 1) {
      for (const form of [named(index), Buffer.from(named(index)).toString('base64')]) {
        expect(everywhere, `canary ${index}`).not.toContain(form)
        expect(mails, `canary ${index}`).not.toContain(form)
        expect(payloads.includes(form), `canary ${index} in a payload`).toBe(index === 1 && form === named(1))
        expect(paths.includes(form), `canary ${index} in an address`).toBe([0, 2, 6].includes(index) && form === named(index))
      }
    }
  })
})
