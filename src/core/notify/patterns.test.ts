import { describe, expect, it } from 'vitest'
import { eventSchemas } from '../../contract/events/manifest.ts'
import { patternFindings } from './patterns.ts'

const faults = (...events: string[]) => patternFindings([{ events: ['*'] }, { events }])

describe('patterns of a rule', () => {
  it('are found no fault with where some event fits them', () => {
    const told = Object.keys(eventSchemas).filter((type) => !type.startsWith('notification.'))
    expect(told.length).toBeGreaterThan(20)
    expect(faults(...told, '*', 'task.*', 'quality.gate.*', 'task.eval.*')).toEqual([])
  })

  it.each([
    ['nosuch.event', undefined],
    ['nosuch.*', undefined],
    ['task.hold', 'task.held'],
    ['qualty.*', 'quality.*'],
    ['task.held.*', 'task.held'],
    ['task', undefined],
    // Deliveries are never told of.
    ['notification.*', undefined],
    ['notification.failed', undefined],
  ])('%s fits nothing', (pattern, meant) => {
    const found = faults('task.held', pattern)
    expect(found).toMatchObject([{ path: ['notify', 'rules', 1, 'events', 1], message: expect.stringContaining(`\`${pattern}\``) }])
    if (meant !== undefined) expect(found[0]?.fix).toBe(`did you mean \`${meant}\`?`)
  })
})
