import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxDocumentDepth, maxDocumentLength, maxDocumentValues, parseStrictJson } from './strict-json.ts'

function reasonOf(text: string): string {
  const read = parseStrictJson(text)
  return read.ok ? `read as ${JSON.stringify(read.value)}` : read.reason
}

describe('strict JSON', () => {
  it.each([
    ['null', null],
    [' [1, -2.5, "a", true, {}] ', [1, -2.5, 'a', true, {}]],
    ['{"a":{"b":1},"c":{"b":2}}', { a: { b: 1 }, c: { b: 2 } }],
    ['[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['{"a":"b","b":"a"}', { a: 'b', b: 'a' }],
    ['{"a":["a","a"]}', { a: ['a', 'a'] }],
    ['{"a":"\\"a\\":{[","b":"\\\\"}', { a: '"a":{[', b: '\\' }],
    ['{"a" \r\n\t: 1}', { a: 1 }],
    ['{"\\u0061b":1}', { ab: 1 }],
    ['123456789012345', 123456789012345],
    ['4.0', 4],
    ['12.25', 12.25],
    ['"\\ud83d\\ude00"', '😀'],
  ])('reads %s', (text, value) => {
    expect(parseStrictJson(text)).toEqual({ ok: true, value })
  })

  it.each([
    ['{"verdict":"reject","verdict":"accept"}', 'the key "verdict" appears twice in one object'],
    ['{"a":1,"\\u0061":2}', 'the key "a" appears twice in one object'],
    ['{"x":{"a":1,"b":{},"a":2}}', 'the key "a" appears twice in one object'],
    ['[{"a":[{}],"a" : 1}]', 'the key "a" appears twice in one object'],
    ['{"a":1,"a" :2}', 'the key "a" appears twice in one object'],
    ['{"a":1,"a"\n:2}', 'the key "a" appears twice in one object'],
    ['{"a":1,"a"\r:2}', 'the key "a" appears twice in one object'],
    ['{"a":1,"a"\t:2}', 'the key "a" appears twice in one object'],
    ['{"__proto__":{}}', 'the key "__proto__" is not allowed'],
    ['[{"constructor":1}]', 'the key "constructor" is not allowed'],
    ['{"a":{"proto\\u0074ype":1}}', 'the key "prototype" is not allowed'],
    ['"\\ud800"', 'the text "\\u{d800}" is not well-formed Unicode'],
    ['{"\\udc00":1}', 'the text "\\u{dc00}" is not well-formed Unicode'],
    ['[5e0]', 'the number "5e0" is not written plainly: no exponent, at most 15 digits'],
    ['[-1E+2]', 'the number "-1E+2" is not written plainly: no exponent, at most 15 digits'],
    ['4.99999999999999999', 'the number "4.99999999999999999" is not written plainly: no exponent, at most 15 digits'],
    ['1234567890123456', 'the number "1234567890123456" is not written plainly: no exponent, at most 15 digits'],
    ['', 'not one valid JSON document: it is empty'],
    [' \n', 'not one valid JSON document: it is empty'],
    ['{"a":1', 'not one valid JSON document'],
    ['{"a":1}{"a":1}', 'not one valid JSON document'],
    ['{"a":1} x', 'not one valid JSON document'],
    ["{'a':1}", 'not one valid JSON document'],
    ['{"a":1,}', 'not one valid JSON document'],
    ['{"a":NaN}', 'not one valid JSON document'],
    ['// c\n{}', 'not one valid JSON document'],
    ['\uFEFF{}', 'not one valid JSON document'],
    ['\u00A0{}', 'not one valid JSON document'],
    ['{"a":"\n"}', 'not one valid JSON document'],
  ])('refuses %s', (text, reason) => {
    expect(reasonOf(text)).toContain(reason)
  })

  it('says where a broken document breaks, quoting little and nothing raw', () => {
    expect(reasonOf('{"a":1} and more')).toBe('not one valid JSON document: unexpected text at character 8: "and more"')
    expect(reasonOf('{"abcdefgh":1} and')).toBe('not one valid JSON document: unexpected text at character 15: "and"')
    expect(reasonOf('[')).toBe('not one valid JSON document: it ends too early')
    const reason = reasonOf(`Sure!\u202E\n${'x'.repeat(5000)}`)
    expect(reason).toMatch(/^not one valid JSON document: it begins with "Sure!\\u\{202e\}\\u\{a\}x+"…$/)
    expect(reason.length).toBeLessThan(200)
  })

  it('bounds depth, length and number of values exactly', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(parseStrictJson(nested(maxDocumentDepth)).ok).toBe(true)
    expect(reasonOf(nested(maxDocumentDepth + 1))).toBe('nested deeper than 32 levels')
    expect(reasonOf(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)).toBe('nested deeper than 32 levels')
    expect(parseStrictJson(`[${'[],'.repeat(100)}[]]`).ok).toBe(true)

    const long = (length: number) => JSON.stringify('x'.repeat(length - 2))
    expect(parseStrictJson(long(maxDocumentLength)).ok).toBe(true)
    expect(reasonOf(long(maxDocumentLength + 1))).toBe('the document is longer than 1048576 characters')

    const many = (values: number) => `[${Array.from({ length: values - 1 }, () => '1').join(',')}]`
    expect(parseStrictJson(many(maxDocumentValues)).ok).toBe(true)
    expect(reasonOf(many(maxDocumentValues + 1))).toBe('more than 20000 values')
    const texts = (values: number) => JSON.stringify(Array.from({ length: values - 1 }, () => 'x'))
    expect(parseStrictJson(texts(maxDocumentValues)).ok).toBe(true)
    expect(reasonOf(texts(maxDocumentValues + 1))).toBe('more than 20000 values')
  })

  it('agrees with JSON.parse on everything that it reads', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        fc.nat(),
        fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '1', ' ', 'e', '.', '-'),
        (json, place, insert) => {
          const at = place % (json.length + 1)
          for (const text of [json, json.slice(0, at) + insert + json.slice(at), json.slice(0, at) + insert + json.slice(at + 1)]) {
            const read = parseStrictJson(text)
            if (read.ok) expect(read.value).toEqual(JSON.parse(text))
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('reads every document without traps', () => {
    const leaf = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.boolean(), fc.constant(null))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie('tree'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(tree, fc.constantFrom(0, 2), (value, indent) => {
        expect(parseStrictJson(JSON.stringify(value, null, indent))).toEqual({ ok: true, value })
      }),
      { numRuns: 1000 },
    )
  })

  it('finds a repeated key wherever it stands', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 6 }), fc.boolean(), (keys, inner) => {
        const object = `{${keys.map((key) => `"${key}":${inner ? `{"${key}":[]}` : '"a"'}`).join(',')}}`
        expect(parseStrictJson(object).ok).toBe(new Set(keys).size === keys.length)
      }),
    )
  })
})
