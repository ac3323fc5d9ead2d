import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editDistance, suggest } from './suggest.ts'

describe('suggest', () => {
  it.each([
    ['treshold', 'threshold'],
    ['Threshold', 'threshold'],
    ['thershold', 'threshold'],
    ['max_attempts', 'maxAttempts'],
    ['pannel', 'panel'],
  ])('%s was meant as %s', (word, meant) => {
    expect(suggest(word, ['threshold', 'maxAttempts', 'panel'])).toBe(meant)
  })

  it.each(['colour', 'x', '', 'a'.repeat(5000)])('has nothing for %j', (word) => {
    expect(suggest(word, ['threshold', 'maxAttempts', 'panel'])).toBeUndefined()
  })
})

describe('editDistance', () => {
  it('counts single slips as one', () => {
    expect([
      editDistance('abc', 'abc'),
      editDistance('abc', 'ab'),
      editDistance('abc', 'axc'),
      editDistance('abc', 'acb'),
      editDistance('', 'abc'),
    ]).toEqual([0, 1, 1, 1, 3])
  })

  it('is symmetric, zero only for equals, and never more than the longer word', () => {
    const word = fc.string({ maxLength: 12 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b)
        expect(editDistance(b, a)).toBe(distance)
        expect(distance === 0).toBe(a === b)
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
    )
  })
})
