import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { slugOf, uniqueSlugs } from './ids.ts'

describe('slugOf', () => {
  it.each([
    ['Implement core module', 'implement-core-module'],
    ['  --A__b.c/d\\e  ', 'a-b-c-d-e'],
    ['Größe ändern', 'größe-ändern'],
    ['实现 核心', '实现-核心'],
    ['../../etc', 'etc'],
  ])('%j is %s', (text, slug) => {
    expect(slugOf(text)).toBe(slug)
  })

  it('is a stable piece of the hash where nothing else is left, and ends in one where it was cut', () => {
    expect(slugOf('!!!')).toMatch(/^[0-9a-f]{8}$/)
    expect(slugOf('!!!')).not.toBe(slugOf('???'))
    const long = 'word '.repeat(60)
    expect(slugOf(long)).toMatch(/^(word-)+[a-z-]*[0-9a-f]{8}$/)
    expect(slugOf(long)).not.toBe(slugOf(`${long}x`))
  })

  it('is always a name for a file and never too long', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const slug = slugOf(text)
        expect(slug).toMatch(/^[\p{L}\p{M}\p{N}]+(-[\p{L}\p{M}\p{N}]+)*$/u)
        expect(Buffer.byteLength(slug)).toBeLessThanOrEqual(80)
        expect(slugOf(text)).toBe(slug)
      }),
    )
  })
})

describe('uniqueSlugs', () => {
  it('are unique for different titles, and only later ones change', () => {
    expect(uniqueSlugs(['A b', 'a-b', 'c'])).toEqual(['a-b', expect.stringMatching(/^a-b-[0-9a-f]{8}$/), 'c'])
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'A', ' ', '-', '!', '2') }), { maxLength: 30 }), (titles) => {
        const slugs = uniqueSlugs(titles)
        expect(new Set(slugs).size).toBe(titles.length)
        expect(uniqueSlugs(titles.slice(0, -1))).toEqual(slugs.slice(0, -1))
      }),
    )
  })
})
