import { z } from 'zod'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const form = /^(\d{1,9})(ms|s|m|h|d)$/
const longestMs = 3650 * unitMs.d
const wording = 'a duration is a whole number and a unit: 500ms, 90s, 10m, 2h, 7d'

/** Milliseconds of a duration such as `90s`; `undefined` for anything else, and for more than ten years. */
export function parseDuration(text: string): number | undefined {
  const match = form.exec(text)
  if (!match) return undefined
  const ms = Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]
  return ms <= longestMs ? ms : undefined
}

/** Milliseconds of a duration that a schema has already accepted. */
export function durationMs(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new TypeError(`durationMs: ${JSON.stringify(text)} is not a duration`)
  return ms
}

/** A length of time that may be nothing at all, as it is written: `0s`, `10s`. */
export const DurationOrZero = z
  .string(wording)
  .regex(form, wording)
  .refine((text) => !form.test(text) || parseDuration(text) !== undefined, 'a duration is at most 3650d')
  .meta({ typeName: 'duration' })

/** A length of time as it is written: `500ms`, `90s`, `10m`, `2h`, `7d`. */
export const Duration = DurationOrZero.refine((text) => parseDuration(text) !== 0, 'a duration of nothing is not allowed here').meta({
  typeName: 'duration',
})

const deadlineWording = 'a deadline is a duration (2h) or a point in time with its zone (2027-03-01T12:00:00Z)'
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** Whether a text is a point in time with a zone that exists in the calendar: `2027-03-01T12:00:00Z`. */
export function isInstant(text: string): boolean {
  if (!instant.test(text) || Number.isNaN(Date.parse(text))) return false
  // Date.parse carries the 31st of a short month over into the next one.
  const date = text.slice(0, 10)
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
}

/** A deadline: a duration from the start of the thing, or a point in time. */
export const Deadline = z
  .string(deadlineWording)
  .refine((text) => isInstant(text) || (parseDuration(text) ?? 0) > 0, deadlineWording)
  .meta({ typeName: 'duration or time' })
