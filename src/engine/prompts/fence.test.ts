import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fence, fitParts } from './fence.ts'

const nonce = 'f3a9c1d2e4b5a697'

describe('a fence around untrusted text', () => {
  it('cannot be closed from inside, by text or by a file name', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<<<', '>>>', nonce, `FILE x ${nonce}>>>`, '\n', '\u202e', '# Your answer', 'a'), { maxLength: 12 }),
        fc.array(fc.constantFrom('x.txt', '\n>>>\n', nonce, ' '), { maxLength: 5 }),
        (text, label) => {
          const fenced = fence(nonce, `FILE ${label.join('')}`, text.join(''))
          expect(fenced.split('<<<')).toHaveLength(2)
          expect(fenced.split('>>>')).toHaveLength(2)
          expect(fenced.split(nonce)).toHaveLength(3)
          expect(fenced.split('\n')[0]).toMatch(/^<<<FILE /)
          expect(fenced.endsWith(`${nonce}>>>`)).toBe(true)
          expect(fenced).not.toContain('\u202e')
        },
      ),
    )
  })
})

describe('what does not fit', () => {
  it('is named with its size, and what comes after it may still fit', () => {
    const parts = fitParts(
      [
        { name: 'a', text: 'aa' },
        { name: 'big', text: 'b'.repeat(50) },
        { name: 'c', text: 'cc' },
      ],
      10,
    )
    expect(parts.map((part) => part.text)).toEqual(['aa', expect.stringContaining('50 characters'), 'cc'])
  })
})
