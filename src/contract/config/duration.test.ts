import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Deadline, Duration, DurationOrZero, durationMs, isInstant, parseDuration } from './duration.ts'

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['0s', 0],
    ['3650d', 315_360_000_000],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
    expect(durationMs(text)).toBe(ms)
  })

  it.each(['', '10', 's', '1.5h', '-1s', '+1s', '1 s', ' 1s', '1s ', '1S', '1h30m', '1w', '1e3s', '٣s', '3651d', '9999999999ms', '1s\n'])(
    'refuses %j',
    (text) => {
      expect(parseDuration(text)).toBeUndefined()
      expect(DurationOrZero.safeParse(text).success).toBe(false)
      expect(() => durationMs(text)).toThrow(TypeError)
    },
  )

  it('reads every whole number of every unit that fits, and nothing longer than ten years', () => {
    const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
    fc.assert(
      fc.property(fc.nat(999_999_999), fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])), (count, unit) => {
        const ms = count * units[unit]
        expect(parseDuration(`${count}${unit}`)).toBe(ms <= 315_360_000_000 ? ms : undefined)
      }),
    )
  })
})

describe('Duration', () => {
  it('is more than nothing; DurationOrZero may be nothing', () => {
    expect(Duration.safeParse('1ms').success).toBe(true)
    expect(Duration.safeParse('0s').success).toBe(false)
    expect(DurationOrZero.safeParse('0s').success).toBe(true)
  })
})

describe('Deadline', () => {
  it.each(['2h', '2027-03-01T12:00Z', '2027-03-01T12:00:00Z', '2027-03-01T12:00:00.250+02:00', '2028-02-29T00:00:00Z'])(
    'takes %s',
    (text) => {
      expect(Deadline.safeParse(text).success).toBe(true)
    },
  )

  it.each([
    '0s',
    '2027-03-01',
    '2027-03-01T12:00:00',
    '2027-02-29T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-03-01T25:00:00Z',
    'tomorrow',
    '',
  ])('refuses %j', (text) => {
    expect(isInstant(text)).toBe(false)
    expect(Deadline.safeParse(text).success).toBe(false)
  })
})
