import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isPassing, pauseBefore } from './patience.ts'

const patience = { retries: 3, firstPauseMs: 500, longestPauseMs: 20_000 }

it('pauses grow, are partly chance, and never exceed the longest unless the server asks for more', () => {
  fc.assert(
    fc.property(
      fc.nat(50),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.option(fc.nat(60_000), { nil: undefined }),
      (retry, chance, asked) => {
        const pause = pauseBefore(retry, patience, asked, () => chance)
        const growing = Math.min(20_000, 500 * 2 ** retry)
        expect(pause).toBeGreaterThanOrEqual(Math.max(growing / 2, asked ?? 0))
        expect(pause).toBeLessThanOrEqual(Math.max(growing, asked ?? 0))
      },
    ),
  )
})

it('only what may be over soon is asked again', () => {
  expect([400, 401, 402, 403, 404, 409, 413, 422].filter(isPassing)).toEqual([])
  expect([408, 425, 429, 500, 502, 503, 504, 529].filter((status) => !isPassing(status))).toEqual([])
})
