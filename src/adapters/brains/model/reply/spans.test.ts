import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { itemsAt, memberAt, membersAt, stringAt } from './spans.ts'

/** A value written in one of the many ways in which JSON lets it be written. */
const written = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, '\t'))
  .map(([value, indent]) => JSON.stringify(value, null, indent))

describe('places in a JSON text', () => {
  it('are where a parser finds the same values', () => {
    fc.assert(
      fc.property(written, fc.constantFrom('', ' ', '\n\t'), (text, blank) => {
        const padded = blank + text + blank
        const value: unknown = JSON.parse(padded)
        const read = (span: { start: number; end: number }): unknown => JSON.parse(padded.slice(span.start, span.end))
        if (Array.isArray(value)) expect(itemsAt(padded, 0).map(read)).toEqual(value)
        else if (typeof value === 'object' && value !== null) {
          const members = membersAt(padded, 0).map((member): [string, unknown] => [member.key, read(member.value)])
          expect(Object.fromEntries(members)).toEqual(value)
        } else {
          expect(itemsAt(padded, 0)).toEqual([])
          expect(membersAt(padded, 0)).toEqual([])
        }
      }),
    )
  })

  it('keep the text as it stands, repeated keys and blanks and escapes included', () => {
    const text = '{ "a" : {"x": 1, "x" :2 , "y\\"}]": [ ] } , "b": "\\u0061\\n" }'
    const a = memberAt(text, 0, 'a')
    expect(a && text.slice(a.start, a.end)).toBe('{"x": 1, "x" :2 , "y\\"}]": [ ] }')
    expect(a && membersAt(text, a.start).map(({ key }) => key)).toEqual(['x', 'x', 'y"}]'])
    expect(stringAt(text, memberAt(text, 0, 'b'))).toBe('a\n')
    expect(stringAt(text, a)).toBeUndefined()
  })

  it('are not told for a key that is there twice, also where it is written in another way', () => {
    expect(memberAt('{"a":1,"a":2}', 0, 'a')).toBeUndefined()
    expect(memberAt('{"a":1,"\\u0061":2}', 0, 'a')).toBeUndefined()
    expect(memberAt('{"b":1}', 0, 'a')).toBeUndefined()
  })

  it('are found at any depth', () => {
    const depth = 200_000
    const deep = `{"a":${'['.repeat(depth)}${']'.repeat(depth)},"b":1}`
    expect(memberAt(deep, 0, 'b')).toEqual({ start: deep.length - 2, end: deep.length - 1 })
  })

  it('end with the text, where it breaks off', () => {
    for (const text of ['{', '{"a"', '{"a":', '{"a":[1', '[', '["', '[{', '']) {
      expect(() => [itemsAt(text, 0), text === '{"a"' ? [] : membersAt(text, 0)]).not.toThrow()
    }
  })
})
