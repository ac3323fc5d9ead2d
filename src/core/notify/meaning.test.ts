import { describe, expect, it } from 'vitest'
import { incidentOf, severities, severityOf } from './meaning.ts'

describe('how grave an event is', () => {
  it('has an order', () => {
    expect(severities).toEqual(['info', 'warning', 'error', 'critical'])
  })

  it.each([
    ['error', ['task.failed', 'quality.gate.failed', 'quality.threshold.failed', 'sla.violated', 'bypass.granted', 'review.bypassed']],
    [
      'warning',
      ['attempt.failed', 'checks.failed', 'merge.failed', 'operator.requested', 'gate.stopped', 'bypass.requested', 'release.refused'],
    ],
    ['warning', ['task.held', 'sla.warning', 'task.force_accepted', 'task.stagnated', 'task.eval.unparsed', 'seat.unavailable']],
    ['warning', ['attempt.interrupted', 'attempt.rejected', 'veto.raised', 'gate.waived', 'quality.gate.skipped', 'task.overruled']],
    ['warning', ['session.unreviewed']],
    ['info', ['task.accepted', 'quality.gate.passed', 'sla.met', 'mission.started', 'made.up']],
  ])('%s: %j', (severity, types) => {
    const found = types.map((type) => [type, severityOf(type, {})])
    expect(found).toEqual(found.map(([type]) => [type, severity]))
  })

  it.each([
    ['mission.finished', { outcome: 'clean' }, 'info'],
    ['mission.finished', { outcome: 'failed' }, 'error'],
    ['mission.finished', { outcome: 'inconclusive' }, 'warning'],
    ['mission.finished', { outcome: 'owner-accepted' }, 'warning'],
    ['task.accepted', { flag: 'unreviewed' }, 'warning'],
    ['task.accepted', { flag: 'clean' }, 'info'],
    ['task.readied', { flag: 'unreviewed' }, 'info'],
  ])('depends on what it says: %s %j', (type, data, severity) => {
    expect(severityOf(type, data)).toBe(severity)
  })
})

describe('the alert on a thing', () => {
  const subject = 'task/m-1/a'
  const trigger = (key: string) => ({ action: 'trigger', key: `${key}:${subject}` })
  const resolve = (...keys: string[]) => ({ action: 'resolve', keys: keys.map((key) => `${key}:${subject}`) })

  it.each([
    ['task.failed', trigger('state')],
    ['task.held', trigger('state')],
    ['task.force_accepted', trigger('state')],
    ['task.stagnated', trigger('state')],
    ['operator.requested', trigger('state')],
    ['quality.gate.failed', trigger('state')],
    ['quality.threshold.failed', trigger('threshold')],
    ['sla.violated', trigger('sla')],
    ['task.accepted', resolve('state', 'sla')],
    ['hold.lifted', resolve('state')],
    ['quality.gate.passed', resolve('state')],
    ['gate.waived', resolve('state')],
    ['quality.threshold.passed', resolve('threshold')],
    ['threshold.waived', resolve('threshold')],
    ['sla.met', resolve('sla')],
    ['sla.warning', undefined],
    ['attempt.failed', undefined],
  ])('of %s', (type, incident) => {
    expect(incidentOf(type, subject, {})).toEqual(incident)
    expect(incidentOf(type, subject, { to: 'held' })).toEqual(type === 'hold.lifted' ? undefined : incident)
  })

  it('of a mission is raised by a failed end, and ended with its deadline and threshold by another one', () => {
    expect(incidentOf('mission.finished', subject, { outcome: 'failed' })).toEqual(trigger('state'))
    expect(incidentOf('mission.finished', subject, { outcome: 'clean' })).toEqual(resolve('state', 'sla', 'threshold'))
  })
})
