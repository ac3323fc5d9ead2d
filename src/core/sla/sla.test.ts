import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deadlineOf, lookAt, type Watched } from './sla.ts'

const rules = { warningThreshold: 0.8 }
const hour = 3_600_000
const watched = (more: Partial<Watched> = {}): Watched => ({
  entityId: 'm/a',
  entityType: 'task',
  written: '1h',
  from: 0,
  failed: false,
  warned: false,
  violated: false,
  met: false,
  ...more,
})

describe('a deadline', () => {
  it('is a duration from the beginning, or a point in time whenever it begins', () => {
    expect(deadlineOf({ written: '1h', from: 5 })).toBe(hour + 5)
    expect(deadlineOf({ written: '2026-01-01T00:00:00Z', from: 5 })).toBe(Date.parse('2026-01-01T00:00:00Z'))
    expect(deadlineOf({ written: '1h' })).toBeUndefined()
  })

  it('warns, then is missed, each with its figures', () => {
    expect(lookAt(watched(), 0.5 * hour, rules)).toEqual({ events: [], next: 0.8 * hour })
    expect(lookAt(watched(), 0.9 * hour, rules)).toMatchObject({
      events: [{ type: 'sla.warning', data: { elapsed: 0.9 * hour, remaining: 0.1 * hour, percentUsed: 90 } }],
      next: hour,
    })
    expect(lookAt(watched({ warned: true }), hour + 7, rules)).toMatchObject({ events: [{ type: 'sla.violated', data: { overdueMs: 7 } }] })
  })

  it('is told in whole milliseconds, however fine the clock is', () => {
    const figures = (time: number) =>
      lookAt(watched({ from: 3 }), time, rules).events.flatMap(({ data }) =>
        Object.entries(data).filter(([name]) => ['elapsed', 'remaining', 'overdueMs', 'marginMs'].includes(name)),
      )
    expect(figures(0.9 * hour + 0.25)).toEqual([
      ['elapsed', 0.9 * hour - 3],
      ['remaining', 0.1 * hour + 3],
    ])
    expect(figures(hour + 10.75)).toEqual([['overdueMs', 7]])
  })

  it('is met by what is done in time, never by what failed, and late work is late', () => {
    expect(lookAt(watched({ doneAt: hour - 3 }), 2 * hour, rules).events).toMatchObject([{ type: 'sla.met', data: { marginMs: 3 } }])
    expect(lookAt(watched({ failed: true }), 2 * hour, rules).events).toEqual([])
    expect(lookAt(watched({ doneAt: hour + 4 }), 2 * hour, rules).events).toMatchObject([{ type: 'sla.violated', data: { overdueMs: 4 } }])
    expect(lookAt(watched({ doneAt: hour + 4, violated: true }), 2 * hour, rules).events).toEqual([])
  })

  it('is missed by what failed after it, whoever looks how much later, and by nothing that failed before', () => {
    const failed = (failedAt: number, more: Partial<Watched> = {}) => lookAt(watched({ failed: true, failedAt, ...more }), 9 * hour, rules)
    expect(failed(hour - 1)).toEqual({ events: [] })
    expect(failed(hour)).toEqual({ events: [] })
    expect(failed(hour + 5).events).toMatchObject([{ type: 'sla.violated', data: { overdueMs: 5 } }])
    expect(failed(hour + 5, { violated: true })).toEqual({ events: [] })
    expect(failed(hour + 5, { met: true })).toEqual({ events: [] })
    const fixed = { written: new Date(hour).toISOString() }
    expect(failed(hour + 5, fixed).events).toMatchObject([{ type: 'sla.violated', data: { overdueMs: 5 } }])
  })

  it('counts from when the entity began, at the very moments that it names', () => {
    const from = 10 * hour
    const begun = (more: Partial<Watched> = {}) => watched({ from, ...more })
    const entity = { entityId: 'm/a', entityType: 'task', deadline: new Date(11 * hour).toISOString() }
    expect(lookAt(begun(), from, rules)).toEqual({ events: [], next: 10.8 * hour })
    expect(lookAt(begun(), 10.8 * hour, rules)).toEqual({
      events: [{ type: 'sla.warning', data: { ...entity, elapsed: 0.8 * hour, remaining: 0.2 * hour, percentUsed: 80 } }],
      next: 11 * hour,
    })
    expect(lookAt(begun({ warned: true }), 10.9 * hour, rules)).toEqual({ events: [], next: 11 * hour })
    expect(lookAt(begun(), 11 * hour, rules)).toEqual({ events: [{ type: 'sla.violated', data: { ...entity, overdueMs: 0 } }] })
    expect(lookAt(begun({ doneAt: 11 * hour }), 12 * hour, rules)).toEqual({
      events: [{ type: 'sla.met', data: { ...entity, marginMs: 0 } }],
    })
  })

  it('says nothing of what has no deadline yet; one at a point in time begins to run with the first look', () => {
    const { from: _from, ...unready } = watched()
    expect(lookAt(unready, 9 * hour, rules)).toEqual({ events: [] })
    expect(deadlineOf({ written: 'soon', from: 5 })).toBeUndefined()
    const fixed = { ...unready, written: new Date(20 * hour).toISOString() }
    expect(lookAt(fixed, 10 * hour, rules)).toEqual({ events: [], next: 18 * hour })
  })

  it.each([
    [1, ['sla.violated']],
    [-1, []],
  ])('that is a point in time goes by the wall clock, here %i hours ahead; a duration does not', (hours, said) => {
    const fixed = watched({ written: new Date(10 * hour).toISOString(), from: 9 * hour })
    const looked = lookAt(fixed, 9.5 * hour, rules, hours * hour)
    expect(looked.events.map(({ type }) => type)).toEqual(said)
    if (hours < 0) expect(looked.next).toBe(9 * hour + 2 * hour * 0.8)
    expect(lookAt({ ...fixed, doneAt: 10.5 * hour }, 11 * hour, rules, hours * hour).events).toMatchObject([
      { type: hours > 0 ? 'sla.violated' : 'sla.met' },
    ])
    expect(lookAt(watched(), 0.5 * hour, rules, hours * hour)).toEqual({ events: [], next: 0.8 * hour })
  })

  it('says each thing at most once, however often and whenever it is looked at', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3 * hour }), { minLength: 1, maxLength: 40 }),
        fc.option(fc.integer({ min: 0, max: 3 * hour })),
        (times, doneAt) => {
          const said: string[] = []
          let row = watched()
          for (const now of times.sort((a, b) => a - b)) {
            if (doneAt !== null && now >= doneAt && row.doneAt === undefined) row = { ...row, doneAt }
            for (const { type } of lookAt(row, now, rules).events) {
              said.push(type)
              row = {
                ...row,
                ...(type === 'sla.warning' && { warned: true }),
                ...(type === 'sla.violated' && { violated: true }),
                ...(type === 'sla.met' && { met: true }),
              }
            }
          }
          expect(new Set(said).size).toBe(said.length)
          expect(said.includes('sla.met') && said.includes('sla.violated') && (doneAt ?? 0) > hour).toBe(false)
        },
      ),
    )
  })
})
