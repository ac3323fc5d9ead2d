import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Channel } from '../../contract/config/notify.ts'
import { messageOf } from './message.ts'
import { noteOf, type ToldEvent } from './note.ts'
import { trialMessage } from './trial.ts'

const source = 'urn:assay:journal:0123456789abcdef'
const event = (type: string, data: object = {}, stream = 'task/m-1/build'): ToldEvent => ({
  stream,
  version: 7,
  type,
  data,
  at: '2026-11-16T00:00:00.000Z',
})
const note = (type: string, data: object = {}, stream?: string) => noteOf(event(type, data, stream), 'm-1')
const body = <T>(kind: Channel['kind'], type: string, data: object = {}, stream?: string): T =>
  messageOf(note(type, data, stream), kind, source).body as T

type PagerEvent = { event_action: string; dedup_key: string; payload?: { summary: string; severity: string } }
type SlackBody = { text: string; blocks: { type: string; text?: { text: string; type: string }; fields?: { text: string }[] }[] }

describe('a note', () => {
  it('says what happened to what, why, and with which figures', () => {
    const failed = note(
      'quality.gate.failed',
      { missionId: 'm-1', gateName: 'code-review', avgScore: { exact: '3/1', on5: 3, on100: 50 }, reason: 'below 4', weak: ['m-1/build'] },
      'gate/m-1/code-review',
    )
    expect(failed).toMatchObject({ title: 'Quality gate failed: code-review', text: 'below 4', severity: 'error' })
    expect(failed.fields).toContainEqual({ name: 'Average score', value: '3 (50/100)' })
    expect(failed.fields).toContainEqual({ name: 'Weak inputs', value: 'm-1/build' })
    expect(note('task.held', { reason: 'judge_unavailable', from: 'in_review', detail: 'no judge' }).title).toBe('Task held: m-1/build')
    expect(note('mission.finished', { outcome: 'clean', detail: '3 clean' }, 'mission/m-1')).toMatchObject({
      severity: 'info',
      text: '3 clean',
    })
  })

  it.each([
    ['task.accepted', { flag: 'clean' }, 'info'],
    ['task.accepted', { flag: 'unreviewed' }, 'warning'],
    ['task.force_accepted', {}, 'warning'],
    ['task.failed', {}, 'error'],
    ['attempt.failed', {}, 'warning'],
    ['sla.violated', {}, 'error'],
    ['operator.requested', {}, 'warning'],
    ['restore.requested', {}, 'info'],
    ['mission.finished', { outcome: 'inconclusive' }, 'warning'],
  ])('weighs %s %j as %s', (type, data, severity) => {
    expect(note(type, data).severity).toBe(severity)
  })
})

describe('the id of a message', () => {
  it('is one for each event of each journal', () => {
    const idOf = (version: number, from: string) => messageOf(noteOf({ ...event('task.held'), version }, 'm-1'), 'webhook', from).id
    expect(idOf(1, source)).toBe(idOf(1, source))
    expect(new Set([idOf(1, source), idOf(2, source), idOf(1, 'urn:assay:journal:other')]).size).toBe(3)
  })
})

describe('CloudEvents', () => {
  it('name type, source, subject, time and an id that stays', () => {
    const data = { missionId: 'm-1', gateName: 'g', avgScore: { exact: '9/2', on5: 4.5, on100: 87.5 } }
    const told = body('webhook', 'quality.gate.passed', data, 'gate/m-1/g')
    expect(told).toMatchObject({
      specversion: '1.0',
      id: 'gate/m-1/g@7',
      source,
      type: 'dev.assay.quality.gate.passed.v1',
      subject: 'gate/m-1/g',
      time: '2026-11-16T00:00:00.000Z',
      datacontenttype: 'application/json',
      data,
    })
    expect(body('webhook', 'quality.gate.passed', data, 'gate/m-1/g')).toEqual(told)
    for (const name of Object.keys(told as object)) expect(name).toMatch(/^[a-z0-9]{1,20}$/)
  })
})

describe('PagerDuty', () => {
  const keyOf = (type: string, data: object = {}, stream?: string) =>
    body<PagerEvent[]>('pagerduty', type, data, stream).map(({ event_action, dedup_key }) => [event_action, dedup_key] as const)
  const sla = { entityType: 'task', entityId: 'm-1/build', deadline: '2h', overdueMs: 5, marginMs: 5 }

  it.each([
    ['task.held', 'task.accepted', 'task/m-1/build'],
    ['task.failed', 'task.accepted', 'task/m-1/build'],
    ['task.held', 'hold.lifted', 'task/m-1/build'],
    ['task.force_accepted', 'task.accepted', 'task/m-1/build'],
    ['quality.gate.failed', 'gate.waived', 'gate/m-1/g'],
    ['quality.gate.failed', 'quality.gate.passed', 'gate/m-1/g'],
    ['quality.threshold.failed', 'threshold.waived', 'mission/m-1'],
  ])('%s raises the alert that %s ends', (raises, ends, stream) => {
    const [[action, key] = ['', '']] = keyOf(raises, {}, stream)
    expect(action).toBe('trigger')
    expect(keyOf(ends, {}, stream)).toContainEqual(['resolve', key])
  })

  it('ends a missed deadline with the deadline or with the work, and nothing but the deadline with the deadline', () => {
    const [[, late] = ['', '']] = keyOf('sla.violated', sla)
    expect(keyOf('sla.met', sla)).toEqual([['resolve', late]])
    expect(keyOf('task.accepted', { flag: 'clean' })).toContainEqual(['resolve', late])
    const [[, forced] = ['', '']] = keyOf('task.force_accepted')
    expect(forced).not.toBe(late)
  })

  it('raises an alert of its own for an event that no other one ends; a hold that gives way to a hold ends nothing', () => {
    expect(keyOf('mission.started', {}, 'mission/m-1')).toEqual([['trigger', `${source}/event:mission/m-1@7`]])
    expect(keyOf('hold.lifted', { to: 'held' }).map(([action]) => action)).toEqual(['trigger'])
  })

  it('a test ends the alert that it raises', () => {
    const [first, last] = trialMessage('pager', 'pagerduty', 'x', '2026-11-16T00:00:00.000Z').body as PagerEvent[]
    expect([first?.event_action, last?.event_action]).toEqual(['trigger', 'resolve'])
    expect(first?.dedup_key).toBe(last?.dedup_key)
  })
})

describe("somebody else's words", () => {
  const hostile = '<!channel> &\u202Egnp.exe\u0007\u001B[31m \u2028 *bold* <http://evil|ok>'

  it('become neither a mention nor a link nor a control sequence', () => {
    const slack = body<SlackBody>('slack', 'task.failed', { reason: hostile })
    const text = JSON.stringify(slack)
    expect(text).not.toContain('<!channel>')
    expect(text).toContain('&lt;!channel&gt;')
    for (const block of slack.blocks) if (block.text) expect(block.text.type).toBe('plain_text')
    for (const kind of ['slack', 'webhook', 'pagerduty', 'email', 'desktop', 'stderr'] as const) {
      const message = messageOf(note('task.failed', { reason: hostile }), kind, source)
      const all = JSON.stringify(message)
      expect(all).toContain('U+202E')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      expect(`${message.title}${message.text}${all}`).not.toMatch(/[\u202E\u0007\u001B\u2028]|\\u001b|\\u0007/i)
    }
  })

  it('fit every limit, whatever they are', () => {
    const words = fc.oneof(
      fc.string({ maxLength: 50 }),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('<'.repeat(4000), '😀'.repeat(4000)),
    )
    const data = fc.record({
      reason: words,
      gateName: words,
      worker: words,
      weak: fc.array(words, { maxLength: 4 }),
      extra: fc.jsonValue(),
    })
    fc.assert(
      fc.property(data, fc.constantFrom('task.failed', 'quality.gate.failed', 'sla.violated', 'made.up'), (fact, type) => {
        const slack = body<SlackBody>('slack', type, fact)
        expect(slack.blocks.length).toBeLessThanOrEqual(50)
        expect(slack.text.length).toBeLessThanOrEqual(3000)
        for (const { text, fields } of slack.blocks) {
          expect(text?.text.length ?? 1).toBeLessThanOrEqual(3000)
          expect(text?.text.length ?? 1).toBeGreaterThan(0)
          expect(fields?.length ?? 0).toBeLessThanOrEqual(10)
          for (const field of fields ?? []) expect(field.text.length).toBeLessThanOrEqual(2000)
        }
        expect(slack.blocks[0]?.text?.text.length).toBeLessThanOrEqual(150)
        expect(JSON.stringify(slack).length).toBeLessThanOrEqual(13_000)
        for (const { dedup_key, payload } of body<PagerEvent[]>('pagerduty', type, fact)) {
          expect(dedup_key.length).toBeLessThanOrEqual(255)
          expect(payload?.summary.length ?? 0).toBeLessThanOrEqual(1024)
        }
        const cloud = JSON.stringify(body('webhook', type, fact))
        expect(cloud.length).toBeLessThanOrEqual(100_000)
        expect(cloud.isWellFormed()).toBe(true)
        const message = messageOf(note(type, fact), 'email', source)
        expect(message.title).not.toMatch(/[\r\n]/)
        expect(message.id).toMatch(/^[A-Za-z0-9_]{1,64}$/)
      }),
    )
  })

  it('a key of any length stays within 255 characters', () => {
    const [one] = body<PagerEvent[]>('pagerduty', 'task.failed', {}, `task/m-1/${'x'.repeat(500)}`)
    expect(one?.dedup_key.length).toBeLessThanOrEqual(255)
  })
})
