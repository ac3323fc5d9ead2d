import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDocument } from './document.ts'
import { readCleanJson } from './read-json.ts'

describe('readCleanJson', () => {
  it('reads every faultless JSON object as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'))
        const text = JSON.stringify(value, null, indent)
        expect(readCleanJson(text)).toEqual({ value: JSON.parse(text) })
      }),
    )
  })

  it.each([
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": 1}}',
    '{"a": 1, "\\u0061": 2}',
    '{"x": [{"k": 1}, {"k": 1, "k" : 2}]}',
    '{"__proto__": {"polluted": true}}',
    '{"a": {"__proto__": 1}}',
    `{"a": ${'['.repeat(80)}${']'.repeat(80)}}`,
    '{"a": 1,}',
    '{a: 1}',
    '{"a": 1} {"b": 2}',
    '["a"]',
    '"a"',
    '',
    'name: x',
  ])('leaves %s to the careful way', (text) => {
    expect(readCleanJson(text)).toBeUndefined()
  })

  it('is not fooled by texts that look like keys', () => {
    const value = { 'a": 1, "a': 'x": ', b: '":"', c: ['"k":', '\\"k":'], d: '\\' }
    expect(readCleanJson(JSON.stringify(value))).toEqual({ value })
  })

  it('finds places all the same, and faults at theirs', () => {
    const read = readDocument('{\n  "a": {\n    "b": [1, 2]\n  }\n}', 'a.json')
    if (!read.ok) throw new Error('should be read')
    expect(read.value.locate(['a', 'b', 1])).toEqual({ file: 'a.json', line: 3, column: 14 })
    expect(read.value.locate(['a', 'b'], 'key')).toEqual({ file: 'a.json', line: 3, column: 5 })
    expect(readDocument('{\n "a": 1,\n "a": 2 }', 'a.json')).toMatchObject({
      ok: false,
      error: [{ line: 3, column: 2, message: 'the key `a` is there twice' }],
    })
  })
})
