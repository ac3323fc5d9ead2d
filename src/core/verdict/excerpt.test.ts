import { describe, expect, it } from 'vitest'
import { excerpt } from './excerpt.ts'

describe('an excerpt', () => {
  it.each([
    ['plain text', '"plain text"'],
    ['', '""'],
    ['say "hi" \\ bye', '"say \\"hi\\" \\\\ bye"'],
    ['a\nb\tc\u001b[0m', '"a\\u{a}b\\u{9}c\\u{1b}[0m"'],
    ['\u202E\u200B\uFEFF\u{E0041}\u00AD', '"\\u{202e}\\u{200b}\\u{feff}\\u{e0041}\\u{ad}"'],
    ['a\u00A0b\u2028c\u3000d', '"a\\u{a0}b\\u{2028}c\\u{3000}d"'],
    ['\ud800x', '"\\u{d800}x"'],
    ['naïve 日本 😀', '"naïve 日本 😀"'],
    ['x'.repeat(40), `"${'x'.repeat(40)}"`],
    ['x'.repeat(41), `"${'x'.repeat(40)}"…`],
    ['😀'.repeat(41), `"${'😀'.repeat(40)}"…`],
  ])('of %j', (text, shown) => {
    expect(excerpt(text)).toBe(shown)
  })

  it('is as long as it may be', () => {
    expect(excerpt('abcdef', 3)).toBe('"abc"…')
    expect(excerpt('abc', 3)).toBe('"abc"')
  })
})
