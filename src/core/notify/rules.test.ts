import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Config } from '../../contract/config/config.ts'
import { fitsPattern, type NotifyConfig, targetsOf, tellsAnything } from './rules.ts'

const configOf = (rules: object[], sla: object = {}): NotifyConfig => {
  const channels = { desk: { kind: 'stderr' }, pager: { kind: 'stderr' } }
  return Config.parse({ notify: { channels, rules }, sla })
}
const gateFailed = { type: 'quality.gate.failed', data: { missionId: 'm-1', gateName: 'g', reason: 'low', weak: [] } }

describe('patterns of events', () => {
  it.each([
    ['*', 'task.held', true],
    ['task.*', 'task.eval.unparsed', true],
    ['task.*', 'task', false],
    ['task.*', 'tasks.held', false],
    ['quality.gate.*', 'quality.gate.failed', true],
    ['quality.gate.*', 'quality.threshold.failed', false],
    ['task.held', 'task.held', true],
    ['task.held', 'task.held_up', false],
  ])('%s against %s: %s', (pattern, type, fits) => {
    expect(fitsPattern(pattern, type)).toBe(fits)
  })
})

describe('channels that are told', () => {
  it('are those of every rule that matches, each once, with the shortest cooldown', () => {
    const config = configOf([
      { events: ['quality.*'], channels: ['desk', 'pager'], cooldown: '10m' },
      { events: ['*'], channels: ['desk'], cooldown: '1m' },
      { events: ['task.held'], channels: ['pager'] },
    ])
    expect(targetsOf(gateFailed, 'm-1', config, [])).toEqual([
      { channel: 'desk', cooldownMs: 60_000 },
      { channel: 'pager', cooldownMs: 600_000 },
    ])
  })

  it('are those of the gate beside the rules, for pass and fail alone, without a cooldown', () => {
    const config = configOf([{ events: ['*'], channels: ['desk'], cooldown: '1m' }])
    expect(targetsOf(gateFailed, 'm-1', config, ['pager', 'desk'])).toEqual([
      { channel: 'desk', cooldownMs: 0 },
      { channel: 'pager', cooldownMs: 0 },
    ])
    const none = configOf([])
    expect(targetsOf({ ...gateFailed, type: 'quality.gate.passed' }, 'm-1', none, ['pager'])).toHaveLength(1)
    expect(targetsOf({ ...gateFailed, type: 'gate.waived' }, 'm-1', none, ['pager'])).toEqual([])
  })

  it('are those of deadlines for warnings and violations', () => {
    const config = configOf([], { warningChannels: ['desk'], violationChannels: ['pager'] })
    expect(tellsAnything(config)).toBe(true)
    expect(targetsOf({ type: 'sla.warning', data: {} }, 'm-1', config, [])).toEqual([{ channel: 'desk', cooldownMs: 0 }])
    expect(targetsOf({ type: 'sla.violated', data: {} }, 'm-1', config, [])).toEqual([{ channel: 'pager', cooldownMs: 0 }])
    expect(targetsOf({ type: 'sla.met', data: {} }, 'm-1', config, [])).toEqual([])
  })

  it('are asked for by least severity and by mission, name or run', () => {
    const config = configOf([{ events: ['*'], channels: ['desk'], severity: 'error', missions: ['Ship it', 'other-7'] }])
    const told = (type: string, mission: string, data: object = {}) => targetsOf({ type, data }, mission, config, []).length
    expect(told('task.failed', 'ship-it-1')).toBe(1)
    expect(told('task.failed', 'ship-it-12')).toBe(1)
    expect(told('task.failed', 'other-7')).toBe(1)
    expect(told('task.failed', 'other-8')).toBe(0)
    expect(told('task.failed', 'ship-it-now-1')).toBe(0)
    expect(told('task.held', 'ship-it-1')).toBe(0)
    expect(told('mission.finished', 'ship-it-1', { outcome: 'failed' })).toBe(1)
    expect(told('mission.finished', 'ship-it-1', { outcome: 'clean' })).toBe(0)
  })

  it('are never told of deliveries, whatever the rules say', () => {
    const config = configOf([{ events: ['*', 'notification.failed', 'notification.*'], channels: ['desk'] }])
    for (const type of ['notification.failed', 'notification.delivered', 'notification.begun'])
      expect(targetsOf({ type, data: {} }, 'm-1', config, ['desk'])).toEqual([])
  })

  it('cost nothing where nothing is configured', () => {
    expect(tellsAnything(configOf([]))).toBe(false)
  })

  it('matches of a pattern are by whole words', () => {
    const word = fc.stringMatching(/^[a-z_]{1,8}$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.array(word, { minLength: 1, maxLength: 3 }), (type, below) => {
        const noun = type.join('.')
        expect(fitsPattern(`${noun}.*`, `${noun}.${below.join('.')}`)).toBe(true)
        expect(fitsPattern(`${noun}.*`, `${noun}${below.join('.')}`)).toBe(false)
      }),
    )
  })
})
