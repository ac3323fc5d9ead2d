import { describe, expect, it } from 'vitest'
import { openMemoryJournal } from '../../adapters/memory/journal.ts'
import { Config } from '../../contract/config/config.ts'
import type { Message } from '../../contract/notify/message.ts'
import type { ToldEvent } from '../../core/notify/note.ts'
import type { Journal } from '../../ports/journal.ts'
import type { Sent } from '../../ports/notifier.ts'
import { queueAgain } from '../audit/queue/again.ts'
import { strayWork } from '../audit/queue/strays.ts'
import { BegunTellings, lostTellings } from '../audit/queue/tellings.ts'
import { type DeliveryParts, deliverNotification, pauseAfter } from './deliver.ts'
import { flushNotifications } from './flush.ts'
import { notificationsFor, notificationsOf } from './outbox.ts'
import { deadLetters, notifyViews } from './views.ts'

const never = new AbortController().signal

/** An outbox on a journal in memory, a clock that the test moves, and a channel that answers what the test says. */
function openOutbox(rules: object[], answer: (message: Message, tries: number) => Sent | Promise<Sent>, maxRetries = 10) {
  let now = Date.parse('2026-11-16T00:00:00Z')
  const clock = { now: () => now }
  const journal = openMemoryJournal({ views: notifyViews, clock })
  const channels = { desk: { kind: 'webhook', url: 'http://127.0.0.1:9/' }, pager: { kind: 'pagerduty', routingKeyEnv: 'P' } }
  const config = Config.parse({ notify: { channels, rules, maxRetries } })
  const sent: Message[] = []
  const parts: DeliveryParts = {
    config,
    journal,
    clock,
    openNotifier: async () => ({
      send: async (message) => {
        sent.push(message)
        return answer(message, sent.length)
      },
    }),
  }
  return {
    parts,
    journal,
    sent,
    config,
    pass: (ms: number) => {
      now += ms
    },
    at: () => new Date(now).toISOString(),
    flush: () => flushNotifications(parts, { owner: 'test', withinMs: 60_000, stop: never }),
    types: async () => (await journal.read(0, 1000)).map(({ type }) => type).filter((type) => type.startsWith('notification.')),
  }
}
type Outbox = ReturnType<typeof openOutbox>

/** Appends an event and what is to be told of it, in one transaction, as the engine does. */
async function happen(
  { journal, config, at }: Outbox,
  type: string,
  data: object = {},
  stream = 'task/m-1/build',
  gateChannels: string[] = [],
) {
  const version = (await journal.head(stream)) + 1
  const told: ToldEvent = { stream, version, type, data, at: at() }
  const enqueue = notificationsFor([told], config, gateChannels)
  await journal.append({
    streams: [{ stream, expected: version - 1, events: [{ type, v: 1, data }] }],
    meta: { at: at(), actor: 'runtime' },
    enqueue,
  })
  return { told, enqueue }
}

const all = [{ events: ['*'], channels: ['desk'] }]
const due = async (journal: Journal) => (await journal.workCount()).due

describe('the outbox', () => {
  it('is one piece of work for an event and a channel, in the scope of its mission; the same again is nothing new', async () => {
    const outbox = openOutbox([{ events: ['*'], channels: ['desk', 'pager'] }, ...all], () => ({ ok: true }))
    const { told, enqueue } = await happen(outbox, 'task.held', { reason: 'x' })
    expect(enqueue.map(({ key, kind, scope }) => [key, kind, scope])).toEqual([
      ['task/m-1/build@1:notify:desk', 'notify', 'm-1'],
      ['task/m-1/build@1:notify:pager', 'notify', 'm-1'],
    ])
    expect(notificationsFor([told], outbox.config)).toEqual(enqueue)
    await outbox.journal.append({ streams: [], meta: { at: outbox.at(), actor: 'runtime' }, enqueue })
    expect(await due(outbox.journal)).toBe(2)
  })

  it('has nothing to do where nobody is to be told', () => {
    const config = Config.parse({})
    const told: ToldEvent = { stream: 'gate/m-1/g', version: 1, type: 'quality.gate.passed', data: {}, at: '' }
    expect(notificationsFor([told], config)).toEqual([])
    expect(notificationsFor([told], config, ['desk']).map(({ key, scope }) => [key, scope])).toEqual([['gate/m-1/g@1:notify:desk', 'm-1']])
  })

  it('numbers the events of an append as the journal will', async () => {
    const { config, journal } = openOutbox(all, () => ({ ok: true }))
    const events = ['task.held', 'operator.requested'].map((type) => ({ type, v: 1, data: {} }))
    const streams = [
      { stream: 'task/m-1/a', expected: 0, events },
      { stream: 'mission/m-1', expected: 0, events: events.slice(0, 1) },
    ]
    const keys = notificationsOf(streams, '2026-11-16T00:00:00.000Z', config).map(({ key }) => key)
    const appended = await journal.append({ streams, meta: { at: '2026-11-16T00:00:00.000Z', actor: 'runtime' } })
    expect(appended.ok && appended.events.map(({ stream, version }) => `${stream}@${version}:notify:desk`)).toEqual(keys)
  })

  it('queues a bounded message, however much an event holds, under a key that every store takes', async () => {
    const outbox = openOutbox(all, () => ({ ok: true }))
    const long = { reason: 'x'.repeat(1_000_000), deep: Array.from({ length: 1000 }, () => ['y'.repeat(1000)]) }
    const { enqueue } = await happen(outbox, 'task.held', long, `task/m-1/${'z'.repeat(900)}`)
    expect(JSON.stringify(enqueue).length).toBeLessThan(40_000)
    expect(enqueue[0]?.key.length).toBeLessThanOrEqual(900)
    expect(await outbox.flush()).toBe(1)
    expect(outbox.sent).toHaveLength(1)
  })
})

describe('a delivery', () => {
  it('is recorded and completed at once', async () => {
    const outbox = openOutbox(all, () => ({ ok: true }))
    await happen(outbox, 'task.held', { reason: 'x' })
    expect(await outbox.flush()).toBe(1)
    expect(await outbox.types()).toEqual(['notification.delivered'])
    expect(await outbox.journal.workCount()).toEqual({ due: 0, leased: 0, later: 0 })
  })

  it('that fails for the moment is tried again under the same id, with pauses that grow, then arrives', async () => {
    const outbox = openOutbox(all, (_message, tries) => (tries < 5 ? { ok: false, retry: true, detail: 'it answered 500' } : { ok: true }))
    await happen(outbox, 'task.held')
    for (let tries = 1; tries < 5; tries += 1) {
      expect(await outbox.flush()).toBe(1)
      outbox.pass(pauseAfter(tries) - 1)
      expect(await outbox.flush(), `after ${tries} tries it is not due yet`).toBe(0)
      outbox.pass(1)
    }
    expect(await outbox.flush()).toBe(1)
    expect(outbox.sent).toHaveLength(5)
    expect(new Set(outbox.sent.map(({ id }) => id)).size).toBe(1)
    expect([1, 2, 3].map(pauseAfter)).toEqual([5_000, 10_000, 20_000])
    expect(await outbox.types()).toEqual(['notification.delivered'])
  })

  it('survives an hour of failures; longer than that it becomes a dead letter, and a bounded number of tries', async () => {
    const hour = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].reduce((sum, tries) => sum + pauseAfter(tries), 0)
    expect(hour).toBeGreaterThan(3_600_000)
    const outbox = openOutbox(all, () => ({ ok: false, retry: true, detail: 'it answered 500' }))
    await happen(outbox, 'task.held', { reason: 'x' })
    for (let rounds = 0; rounds < 500; rounds += 1) {
      await outbox.flush()
      outbox.pass(60_000)
    }
    expect(outbox.sent).toHaveLength(11)
    expect(await outbox.types()).toEqual(['notification.failed'])
    expect(await deadLetters(outbox.journal)).toEqual([
      expect.objectContaining({ channel: 'desk', id: 'task/m-1/build@1', event: 'task.held', tries: 11, detail: 'it answered 500' }),
    ])
    expect(await outbox.journal.workCount()).toEqual({ due: 0, leased: 0, later: 0 })
  })

  it('waits as long as the receiver asks, and never longer than half an hour', async () => {
    const outbox = openOutbox(all, () => ({ ok: false, retry: true, detail: 'it answered 429', afterMs: 3_600_000 }))
    await happen(outbox, 'task.held')
    await outbox.flush()
    outbox.pass(29 * 60_000)
    expect(await outbox.flush()).toBe(0)
    outbox.pass(60_000)
    expect(await outbox.flush()).toBe(1)
  })

  it('that cannot succeed is given up at once: a redirect, a missing secret, a channel that is gone', async () => {
    const outbox = openOutbox(all, () => ({ ok: false, retry: false, detail: 'a redirect' }))
    await happen(outbox, 'task.held')
    await happen(outbox, 'quality.gate.passed', {}, 'gate/m-1/g', ['gone', 'constructor'])
    await outbox.flush()
    const letters = await deadLetters(outbox.journal)
    expect(letters.map(({ channel, detail }) => `${channel}: ${detail}`).sort()).toEqual([
      'constructor: the configuration declares no such channel',
      'desk: a redirect',
      'desk: a redirect',
      'gone: the configuration declares no such channel',
    ])
  })

  it('through a channel that throws is a failed try; what it threw is written nowhere', async () => {
    const outbox = openOutbox(
      all,
      () => {
        throw new TypeError('https://hooks.example/CANARY')
      },
      0,
    )
    await happen(outbox, 'task.held')
    await outbox.flush()
    expect(await deadLetters(outbox.journal)).toMatchObject([{ detail: 'the channel failed (TypeError)', tries: 1 }])
    expect(JSON.stringify(await outbox.journal.read(0, 100))).not.toContain('CANARY')
  })

  it('that a stop ends is given back, due at once, and is nobody’s failure', async () => {
    const stop = new AbortController()
    const outbox = openOutbox(all, () => {
      stop.abort()
      return new Promise<Sent>(() => {})
    })
    await happen(outbox, 'task.held')
    expect(await flushNotifications(outbox.parts, { owner: 'a', withinMs: 60_000, stop: stop.signal })).toBe(1)
    expect(outbox.sent).toHaveLength(1)
    expect(await outbox.types()).toEqual([])
    expect(await due(outbox.journal)).toBe(1)
  })

  it('that crashes cut off is no failed try: it is neither given up sooner nor put off for longer', async () => {
    const outbox = openOutbox(all, () => ({ ok: false, retry: true, detail: 'it answered 500' }), 1)
    await happen(outbox, 'task.held')
    for (let crashes = 0; crashes < 5; crashes += 1) {
      const taken = await outbox.journal.claim({ owner: `dead-${crashes}`, limit: 1, leaseMs: 1000 })
      expect(taken).toHaveLength(1)
      await outbox.journal.reclaim((owner) => owner === `dead-${crashes}`)
    }
    await outbox.flush()
    expect(await outbox.types()).toEqual([])
    outbox.pass(pauseAfter(1))
    await outbox.flush()
    const [given] = (await outbox.journal.read(0, 100)).filter(({ type }) => type === 'notification.failed')
    expect(given?.data).toMatchObject({ tries: 2 })
  })

  it('by two processes ends once: who lost the lease writes nothing', async () => {
    const outbox = openOutbox(all, () => ({ ok: true }))
    await happen(outbox, 'task.held')
    const claim = (owner: string) => outbox.journal.claim({ owner, kinds: ['notify'], limit: 1, leaseMs: 1000 })
    const [late] = await claim('a')
    outbox.pass(2000)
    const [taken] = await claim('b')
    if (!late || !taken) throw new Error('the work was not claimed')
    await deliverNotification(outbox, late, never)
    expect(await outbox.types()).toEqual([])
    await deliverNotification(outbox, taken, never)
    expect(await outbox.types()).toEqual(['notification.delivered'])
    expect(outbox.sent.map(({ id }) => id)).toEqual([outbox.sent[0]?.id, outbox.sent[0]?.id])
  })
})

describe('a cooldown', () => {
  const rules = [{ events: ['*'], channels: ['desk', 'pager'], cooldown: '10m' }]
  const titles = ({ sent }: Outbox) => sent.map(({ title }) => title)

  it('tells an event about a thing once in its time, other events and other things at once', async () => {
    const outbox = openOutbox([{ events: ['*'], channels: ['desk'], cooldown: '10m' }], () => ({ ok: true }))
    await happen(outbox, 'task.held')
    await happen(outbox, 'task.held')
    await happen(outbox, 'task.failed')
    await happen(outbox, 'task.held', {}, 'task/m-1/other')
    await outbox.flush()
    expect(titles(outbox).sort()).toEqual(['Task failed: m-1/build', 'Task held: m-1/build', 'Task held: m-1/other'])
    outbox.pass(9 * 60_000)
    await happen(outbox, 'task.held')
    await outbox.flush()
    expect(outbox.sent).toHaveLength(3)
    outbox.pass(60_000)
    await happen(outbox, 'task.held')
    await outbox.flush()
    expect(outbox.sent).toHaveLength(4)
    expect(await outbox.journal.workCount()).toEqual({ due: 0, leased: 0, later: 0 })
    expect(await outbox.journal.compareViews()).toEqual([])
  })

  it('does not mute its own retries, and ends where the telling was given up', async () => {
    const outbox = openOutbox(
      [{ events: ['*'], channels: ['desk'], cooldown: '1d' }],
      (_message, tries) => (tries <= 2 ? { ok: false, retry: true, detail: 'down' } : { ok: true }),
      1,
    )
    await happen(outbox, 'task.held')
    await outbox.flush()
    outbox.pass(60_000)
    await outbox.flush()
    expect(await outbox.types()).toEqual(['notification.begun', 'notification.failed'])
    await happen(outbox, 'task.held')
    await outbox.flush()
    expect(outbox.sent).toHaveLength(3)
    expect(await outbox.types()).toEqual(['notification.begun', 'notification.failed', 'notification.begun', 'notification.delivered'])
  })

  it('never mutes the end of an alert; a clock that is put back mutes no longer than the cooldown', async () => {
    const outbox = openOutbox(rules, () => ({ ok: true }))
    for (let times = 0; times < 2; times += 1) await happen(outbox, 'task.accepted', { flag: 'clean' })
    await outbox.flush()
    expect(outbox.sent).toHaveLength(3)
    outbox.pass(-3_600_000)
    await happen(outbox, 'task.accepted', { flag: 'clean' })
    await outbox.flush()
    expect(outbox.sent).toHaveLength(5)
  })
})

describe('a telling that somebody took out of the queue', () => {
  it('after it was begun is missed, and queued again; then it ends', async () => {
    const outbox = openOutbox([{ events: ['*'], channels: ['desk'], cooldown: '1h' }], (_message, tries) =>
      tries === 1 ? { ok: false, retry: true, detail: 'not now' } : { ok: true },
    )
    const lost = async () => {
      const begun = new BegunTellings()
      for (const event of await outbox.journal.read(0, 100)) begun.feed(event)
      return lostTellings(outbox.journal, begun)
    }
    await happen(outbox, 'task.held', { reason: 'x' })
    await outbox.flush()
    expect(await lost()).toEqual([])
    outbox.pass(60_000)
    const [lease] = await outbox.journal.claim({ owner: 'thief', limit: 1, leaseMs: 1000 })
    expect(lease && (await outbox.journal.complete(lease)), 'the fault fired').toBe(true)
    const missed = await lost()
    expect(missed.map(({ link }) => link.problem)).toEqual([expect.stringContaining('task/m-1/build@1 on desk was begun')])
    expect(await queueAgain(outbox.journal, missed, outbox.at())).toHaveLength(1)
    expect(await strayWork(outbox.journal)).toEqual([])
    expect(await outbox.flush()).toBe(1)
    expect([outbox.sent.length, await outbox.types(), await lost()]).toEqual([2, ['notification.begun', 'notification.delivered'], []])
  })
})

describe('what somebody wrote into the queue by hand', () => {
  const told = (more: object = {}) => ({
    event: { stream: 'task/m-1/build', version: 1, type: 'task.held', data: { reason: 'x' }, at: '2026-11-16T00:00:00.000Z', ...more },
    mission: 'm-1',
    channel: 'desk',
    cooldownMs: 0,
  })
  it.each<[string, string, unknown, string]>([
    ['of an event that never was', 'task/m-1/build@7:notify:desk', told({ version: 7 }), 'which the journal does not have'],
    ['of an event as it was not', 'task/m-1/build@1:notify:deskx', told({ data: { reason: 'CANARY' } }), 'something else than the journal'],
    ['of another type', 'task/m-1/build@1:notify:deskx', told({ type: 'task.accepted' }), 'which the journal does not have'],
    ['under another key', 'task/m-1/build@1:notify:again', told(), 'filed as no telling'],
    ['of another mission', 'task/m-1/build@1:notify:deskx', { ...told(), mission: 'm-2' }, 'filed as no telling'],
    ['that says nothing', 'task/m-1/build@1:notify:deskx', { CANARY: true }, 'does not say what is to be told'],
    ['of endless names', 'x'.repeat(500), told({ type: `task.${'y'.repeat(5000)}` }), 'which the journal does not have'],
  ])('is never sent, but put away and recorded: a telling %s', async (_what, key, payload, why) => {
    const outbox = openOutbox([], () => ({ ok: true }))
    await happen(outbox, 'task.held', { reason: 'x' })
    const forged = { key, kind: 'notify', scope: 'm-1', priority: 0, payload }
    await outbox.journal.append({ streams: [], meta: { at: outbox.at(), actor: 'runtime' }, enqueue: [forged] })
    expect(await outbox.flush(), 'the fault fired').toBe(1)
    expect(outbox.sent).toEqual([])
    expect(await outbox.journal.workCount()).toEqual({ due: 0, leased: 0, later: 0 })
    const letters = await deadLetters(outbox.journal)
    expect(letters).toMatchObject([{ detail: expect.stringContaining('somebody changed the queue by hand'), tries: 1 }])
    expect(letters[0]?.detail).toContain(why)
    expect(JSON.stringify(letters).length).toBeLessThan(2000)
    expect(JSON.stringify(await outbox.journal.read(0, 100))).not.toContain('CANARY')
  })

  it('is not sent where it was told before', async () => {
    const outbox = openOutbox(all, () => ({ ok: true }))
    const { enqueue } = await happen(outbox, 'task.held', { reason: 'x' })
    expect(await outbox.flush()).toBe(1)
    await outbox.journal.append({ streams: [], meta: { at: outbox.at(), actor: 'runtime' }, enqueue })
    expect(await outbox.flush(), 'the fault fired').toBe(1)
    expect(outbox.sent).toHaveLength(1)
    expect(await due(outbox.journal)).toBe(0)
  })
})
