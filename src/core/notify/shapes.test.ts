import { describe, expect, it } from 'vitest'
import type { Channel } from '../../contract/config/notify.ts'
import { Config } from '../../contract/config/config.ts'
import { messageOf } from './message.ts'
import { type Note, noteOf, subjectOf } from './note.ts'
import { targetsOf, tellsAnything } from './rules.ts'
import { trialMessage } from './trial.ts'

const at = '2026-11-16T00:00:00.000Z'
const source = 'urn:assay:journal:1'
const note = (type: string, data: object = {}, stream = 'task/m-1/build', mission = 'm-1') =>
  noteOf({ stream, version: 7, type, data, at }, mission)
const held = note('task.held', { reason: 'budget', attempt: 2, by: 'runtime' })
const bare = note('task.held', {}, 'task/m-1/build', '')
const message = (one: Note, kind: Channel['kind']) => messageOf(one, kind, source)
const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

describe('a note', () => {
  it('has a field for everything that is known, in a fixed order, the mission first', () => {
    const fact = {
      marginMs: 5,
      overdueMs: 4,
      remaining: 3,
      percentUsed: 80,
      deadline: '2h',
      weak: ['a', 7, 'b'],
      answer: 'retry',
      answers: ['retry', 'waive'],
      request: 'm-1#1',
      by: 'owner',
      judge: 'qa',
      worker: 'dev',
      attempt: 2,
      threshold: 3.5,
      score: { exact: '9/2', on5: 4.5, on100: 90 },
      avgScore: { exact: '4/1', on5: 4, on100: 80 },
      gateName: 'review',
      other: 'not told',
    }
    expect(note('quality.gate.failed', fact).fields.map(({ name, value }) => `${name}=${value}`)).toEqual([
      'Mission=m-1',
      'Gate=review',
      'Average score=4 (80/100)',
      'Score=4.5 (90/100)',
      'Threshold=3.5',
      'Attempt=2',
      'Worker=dev',
      'Judge=qa',
      'By=owner',
      'Request=m-1#1',
      'Answers=retry, waive',
      'Answer=retry',
      'Weak inputs=a, b',
      'Deadline=2h',
      'Time used (%)=80',
      'Remaining (ms)=3',
      'Overdue (ms)=4',
      'Margin (ms)=5',
    ])
    expect(note('task.held', { worker: '', weak: [], score: null, judge: { name: 'x' } }, 'task/m-1/build', '').fields).toEqual([])
  })

  it('says why in the words of the event, or of what it holds, the first that has any', () => {
    const textOf = (data: object) => note('task.held', data).text
    expect(textOf({ reason: '', detail: 'second', why: 'third' })).toBe('second')
    expect(textOf({ decision: { concern: 'inner' }, feedback: { summary: 'later' } })).toBe('inner')
    expect(textOf({ feedback: { summary: 'said' } })).toBe('said')
    expect(textOf({ case: { summary: 'the case' } })).toBe('the case')
    expect(textOf({ reason: 7, decision: null })).toBe('')
  })

  it.each([
    ['mission.finished', { outcome: 'clean' }, 'mission/m-1', 'Mission finished clean: m-1'],
    ['mission.finished', {}, 'mission/m-1', 'Mission finished : m-1'],
    ['task.accepted', { flag: 'unreviewed' }, 'task/m-1/a', 'Task accepted unreviewed: m-1/a'],
    ['task.accepted', {}, 'task/m-1/a', 'Task accepted : m-1/a'],
    ['task.force_accepted', {}, 'task/m-1/a', 'Task force accepted: m-1/a'],
    ['sla.violated', { entityType: 'mission', entityId: 'm-1' }, 'sla/mission:m-1', 'Deadline violated: m-1'],
    ['quality.gate.passed', { gateName: 'review' }, 'gate/m-1/review', 'Quality gate passed: review'],
    ['data.sla checked', {}, 'task/m-1/a', 'Data sla checked: m-1/a'],
  ])('is titled: %s %j', (type, data, stream, title) => {
    expect(note(type, data, stream).title).toBe(title)
  })

  it('is about its stream; of a deadline, about the thing that it belongs to', () => {
    const entity = { entityType: 'task', entityId: 'm-1/a' }
    expect(subjectOf('sla/task:m-1/a', 'sla.met', entity)).toBe('task/m-1/a')
    for (const data of [{ entityType: 'task' }, { entityId: 'm-1/a' }, { ...entity, entityId: 3 }, { ...entity, entityType: 3 }, null])
      expect(subjectOf('sla/x', 'sla.met', data)).toBe('sla/x')
    expect(subjectOf('task/m-1/b', 'task.held', entity)).toBe('task/m-1/b')
  })
})

describe('a message', () => {
  it('of Slack has a header, the reason, the figures and where to look it up', () => {
    expect(message(held, 'slack').body).toEqual({
      text: '[warning] Task held: m-1/build: budget',
      mrkdwn: false,
      blocks: [
        { type: 'header', text: plain('Task held: m-1/build') },
        { type: 'section', text: plain('budget') },
        { type: 'section', fields: [plain('Mission: m-1'), plain('Attempt: 2'), plain('By: runtime')] },
        { type: 'context', elements: [plain('warning · task.held · task/m-1/build@7')] },
      ],
    })
    expect(message(bare, 'slack').body).toMatchObject({
      text: '[warning] Task held: m-1/build',
      blocks: [{ type: 'header' }, { type: 'context' }],
    })
  })

  it('of Slack is escaped and cut between entities, to the character', () => {
    const header = (title: string) =>
      (message({ ...held, title }, 'slack').body as { blocks: { text: { text: string } }[] }).blocks[0]?.text.text
    expect(header('a & b < c > d')).toBe('a &amp; b &lt; c &gt; d')
    expect(header('x'.repeat(149))).toBe('x'.repeat(149))
    expect(header('x'.repeat(150))).toBe(`${'x'.repeat(149)}…`)
    expect(header(`${'x'.repeat(147)}&y`)).toBe(`${'x'.repeat(147)}…`)
    const many = Array.from({ length: 12 }, (_, n) => ({ name: 'n', value: String(n) }))
    expect(JSON.stringify(message({ ...held, fields: many }, 'slack').body)).not.toContain('n: 10')
  })

  it('of PagerDuty raises an alert with everything in it', () => {
    const payload = {
      summary: 'Task held: m-1/build: budget',
      source,
      severity: 'warning',
      timestamp: at,
      component: 'task/m-1/build',
      group: 'm-1',
      class: 'task.held',
      custom_details: { Mission: 'm-1', Attempt: '2', By: 'runtime', event: 'task/m-1/build@7' },
    }
    expect(message(held, 'pagerduty').body).toEqual([
      { event_action: 'trigger', dedup_key: `${source}/state:task/m-1/build`, client: 'Assay', payload },
    ])
    const [alone] = message(bare, 'pagerduty').body as { payload: object }[]
    expect(alone?.payload).toMatchObject({ summary: 'Task held: m-1/build', custom_details: { event: 'task/m-1/build@7' } })
    expect(alone?.payload).not.toHaveProperty('group')
  })

  it('of PagerDuty is known by its key, and a long one by a hash of its own', () => {
    const keyOf = (subject: string) => {
      const [one] = message(note('task.failed', {}, subject), 'pagerduty').body as { dedup_key: string }[]
      return one?.dedup_key ?? ''
    }
    const room = 255 - `${source}/state:`.length
    expect(keyOf('x'.repeat(room))).toBe(`${source}/state:${'x'.repeat(room)}`)
    const long = keyOf('x'.repeat(room + 1))
    expect(long).toMatch(/^urn:assay:journal:1\/[0-9a-f]{64}$/)
    expect(long).not.toBe(keyOf('x'.repeat(room + 2)))
  })

  it('by post is a letter; on a desktop it is short; others have the text alone', () => {
    expect(message(held, 'email').text).toBe(
      'Task held: m-1/build\n\nbudget\n\nMission: m-1\nAttempt: 2\nBy: runtime\n\nwarning · task.held · task/m-1/build@7 · 2026-11-16T00:00:00.000Z',
    )
    expect(message(bare, 'email').text.split('\n\n')).toHaveLength(2)
    const long = { ...held, text: 'y'.repeat(400) }
    expect(message(long, 'desktop').text).toHaveLength(300)
    for (const kind of ['stderr', 'slack', 'webhook', 'pagerduty'] as const) expect(message(long, kind).text).toBe(long.text)
    expect(message(held, 'stderr')).toMatchObject({ severity: 'warning', title: 'Task held: m-1/build', body: null })
    expect(message(held, 'email').id).toMatch(/^msg_[0-9a-f]{40}$/)
  })

  it('of CloudEvents has a summary, and a mission where there is one', () => {
    expect(message(held, 'webhook').body).toMatchObject({ summary: 'Task held: m-1/build. budget', mission: 'm-1', severity: 'warning' })
    expect(message(bare, 'webhook').body).toMatchObject({ summary: 'Task held: m-1/build' })
    expect(message(bare, 'webhook').body).not.toHaveProperty('mission')
  })
})

describe('a test message', () => {
  it('says that it is one, and by which channel it came', () => {
    const trial = (kind: Channel['kind']) => trialMessage('ops', kind, 't1', at)
    expect(trial('email')).toMatchObject({ severity: 'info', title: expect.stringContaining('ops') })
    expect(trial('email').text).toMatch(/test message.*Channel: ops.*notification\.tried · trial\/t1@1/s)
    expect(trial('pagerduty').body).toMatchObject([
      {
        event_action: 'trigger',
        dedup_key: 'urn:assay:trial/trial:t1',
        payload: { component: 'channel/ops', custom_details: { Channel: 'ops' } },
      },
      { event_action: 'resolve', dedup_key: 'urn:assay:trial/trial:t1' },
    ])
    expect(trial('slack').body).toHaveProperty('blocks')
    expect(trialMessage('ops', 'email', 't2', at).id).not.toBe(trial('email').id)
  })
})

describe('whether anything is told at all', () => {
  const channels = { ops: { kind: 'stderr' } }
  const config = (more: object) =>
    Config.parse({ notify: { channels, ...more }, ...('sla' in more && { sla: more.sla, notify: { channels } }) })

  it('depends on rules and on the channels of deadlines', () => {
    expect(tellsAnything(config({}))).toBe(false)
    expect(tellsAnything(config({ rules: [{ events: ['*'], channels: ['ops'] }] }))).toBe(true)
    expect(tellsAnything(config({ sla: { warningChannels: ['ops'] } }))).toBe(true)
    expect(tellsAnything(config({ sla: { violationChannels: ['ops'] } }))).toBe(true)
  })

  it('of runs of one mission: its slug and a number, nothing more', () => {
    const one = config({ rules: [{ events: ['*'], channels: ['ops'], missions: ['Ship it'] }] })
    const told = (mission: string) => targetsOf({ type: 'task.held', data: {} }, mission, one, []).length
    expect(['ship-it-1', 'ship-it-12', 'Ship it'].map(told)).toEqual([1, 1, 1])
    expect(['ship-it-1x', 'ship-it-', 'ship-it', 'other-1', 'xxxx-it-1'].map(told)).toEqual([0, 0, 0, 0, 0])
  })
})
