import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkJson } from './json-text.ts'
import type { Schema } from './rules.ts'

const complaints = (schema: Schema, value: unknown) => checkJson(schema, JSON.stringify(value))
const ok = { complaints: [] }

/** Schema, values that fit, values that do not. */
const cases: [string, Schema, unknown[], unknown[]][] = [
  ['type', { type: 'integer' }, [1, 2.0], [1.5, '1', null, [], {}]],
  ['type list', { type: ['string', 'null'] }, ['a', null], [0, false, []]],
  ['enum', { enum: [1, 'a', { b: [2] }] }, [1, 'a', { b: [2] }], [2, '1', { b: [3] }]],
  ['const', { const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }, null]],
  ['required without type', { required: ['a'] }, [{ a: null }, 'not an object'], [{}, { b: 1 }]],
  ['properties without type', { properties: { a: { type: 'string' } } }, [{ a: '' }, {}, 3], [{ a: 1 }]],
  [
    'additionalProperties',
    { properties: { a: true }, patternProperties: { '^x-': { type: 'number' } }, additionalProperties: false },
    [{ a: 1, 'x-1': 2 }],
    [{ b: 1 }, { 'x-1': 'no' }],
  ],
  ['additionalProperties schema', { additionalProperties: { type: 'number' } }, [{ a: 1 }], [{ a: '1' }]],
  ['propertyNames', { propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
  ['property counts', { minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 2, c: 3 }]],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, [{ a: 1, b: 1 }, { c: 1 }], [{ a: 1 }]],
  ['own properties only', { required: ['toString'] }, [{ toString: 1 }], [{}]],
  ['items', { items: { type: 'number' } }, [[1, 2], []], [[1, 'a']]],
  ['prefixItems', { prefixItems: [{ type: 'string' }], items: { type: 'number' } }, [['a', 1], ['a'], []], [[1], ['a', 'b']]],
  ['item counts', { minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3]]],
  [
    'uniqueItems',
    { uniqueItems: true },
    [[1, '1', { a: 1 }, { b: 1 }]],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  ['contains', { contains: { type: 'string' } }, [['a', 1]], [[1], []]],
  ['contains counts', { contains: { type: 'string' }, minContains: 0, maxContains: 1 }, [[1], ['a']], [['a', 'b']]],
  ['text lengths count characters', { minLength: 2, maxLength: 3 }, ['ab', '😀😀'], ['a', '😀', 'abcd']],
  ['pattern is not anchored', { pattern: 'b+' }, ['abc', 5], ['ac']],
  ['numbers', { minimum: 1, exclusiveMaximum: 3 }, [1, 2.9], [0.9, 3]],
  ['other numbers', { exclusiveMinimum: 1, maximum: 3, multipleOf: 0.1 }, [1.1, 3], [1, 3.1, 1.15]],
  ['allOf', { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1.5], [0, 3]],
  ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5], [4]],
  ['oneOf', { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 5]],
  ['not', { not: { type: 'null' } }, [1], [null]],
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
  ['if', { if: { required: ['a'] }, then: { required: ['b'] }, else: { required: ['c'] } }, [{ a: 1, b: 1 }, { c: 1 }], [{ a: 1 }, {}]],
  ['references', { $defs: { 'a/b': { type: 'number' } }, items: { $ref: '#/$defs/a~1b' } }, [[1]], [['x']]],
  ['a tree', { required: ['v'], properties: { next: { $ref: '#' } } }, [{ v: 1, next: { v: 2 } }], [{ v: 1, next: {} }]],
  ['what is written beside a reference', { $defs: { n: { type: 'number' } }, $ref: '#/$defs/n', minimum: 3 }, [3], [2, 'a']],
  ['false', { properties: { a: false } }, [{}], [{ a: 1 }]],
]

describe('JSON compared with a schema', () => {
  it.each(cases)('%s', (_name, schema, fitting, unfitting) => {
    for (const value of fitting) expect(complaints(schema, value)).toEqual(ok)
    for (const value of unfitting) expect(complaints(schema, value)).toEqual({ complaints: [expect.any(String)] })
  })

  it('says where and what', () => {
    expect(complaints({ properties: { 'a/b': { items: { type: 'number' } } }, required: ['c'] }, { 'a/b': [1, 'x'] })).toEqual({
      complaints: ['/a~1b/1: is not number', '(root): "c" is missing'],
    })
  })

  it('lists twenty complaints and counts the rest', () => {
    const found = complaints(
      { items: { type: 'number' } },
      Array.from({ length: 30 }, () => 'x'),
    )
    expect('complaints' in found && found.complaints.length).toBe(21)
    expect(found).toMatchObject({ complaints: expect.arrayContaining(['and 10 more']) })
  })

  it.each([['{'], [''], ['{"a":1} x'], ['NaN']])('complains about %j, which is no JSON', (text) => {
    expect(checkJson(true, text)).toEqual({ complaints: [expect.stringContaining('is not JSON')] })
  })

  it('complains about JSON nested without end instead of failing on it', () => {
    expect(checkJson({ type: 'array' }, '['.repeat(1_000_000) + ']'.repeat(1_000_000))).toEqual({
      complaints: [expect.stringContaining('nested')],
    })
  })

  it.each<[Schema, string]>([
    [{ format: 'email' }, '`format` at #'],
    [{ properties: { a: { minimun: 3 } } }, '`minimun` at #/properties/a'],
    [{ type: 'float' }, '`type` at # of the schema takes type'],
    [{ minLength: -1 }, '`minLength`'],
    [{ pattern: '(?=x)' }, '`pattern`'],
    [{ items: [{ type: 'string' }] }, '`items`'],
    [{ $ref: 'https://example.com/schema' }, '`$ref`'],
    [{ $ref: '#/nowhere' }, '#/nowhere'],
    [{ constructor: 1 }, '`constructor`'],
    [{ $ref: '#' }, 'refers to itself'],
    [{ anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 'refers to itself'],
  ])('refuses %j, which nobody could check', (schema, words) => {
    expect(complaints(schema, { a: 'x' })).toEqual({ why: expect.stringContaining(words) })
  })

  it('agrees with another reader of schemas where that one reads everything', () => {
    const schema = fc.constantFrom<Record<string, unknown>>(
      {
        type: 'object',
        properties: { a: { type: 'string', minLength: 1 }, b: { type: 'array', items: { type: 'integer', minimum: 0 } } },
        required: ['a'],
      },
      { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: false },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'boolean' }] }, minItems: 1, uniqueItems: true },
      { anyOf: [{ type: 'null' }, { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] }] },
    )
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.record({ a: fc.oneof(fc.string(), fc.integer()), b: fc.oneof(fc.array(fc.integer()), fc.integer()) }, { requiredKeys: [] }),
      fc.array(fc.oneof(fc.string(), fc.boolean())),
    )
    fc.assert(
      fc.property(schema, value, (shape, data) => {
        const text = JSON.stringify(data)
        const found = checkJson(shape, text)
        expect('complaints' in found && found.complaints.length === 0).toBe(z.fromJSONSchema(shape).safeParse(JSON.parse(text)).success)
      }),
      { numRuns: 1_000 },
    )
  })
})
