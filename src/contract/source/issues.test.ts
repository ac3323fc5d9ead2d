import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Duration } from '../config/duration.ts'
import { EnvName } from '../config/env-name.ts'
import { parseWith } from './issues.ts'

const Schema = z.strictObject({
  text: z.string().min(1).max(5).default('x'),
  many: z.string().max(9).min(2).default('xx'),
  count: z.int().min(1).max(9).default(1),
  share: z.number().positive().default(1),
  on: z.boolean().default(true),
  mode: z.enum(['fast', 'slow']).default('fast'),
  list: z.array(z.string()).min(1).max(2).default(['a']),
  time: Duration.default('1s'),
  key: EnvName.default('KEY'),
  shape: z.union([z.string(), z.strictObject({ id: z.string() })]).default('x'),
  thing: z
    .discriminatedUnion('kind', [z.strictObject({ kind: z.literal('a') }), z.strictObject({ kind: z.literal('b') })])
    .default({ kind: 'a' }),
})

function findings(value: unknown) {
  const result = parseWith(Schema, value)
  return result.ok ? [] : result.error.map(({ message, fix }) => (fix === undefined ? message : `${message} (${fix})`))
}

describe('parseWith', () => {
  it('gives the parsed value, defaults filled in', () => {
    expect(parseWith(Schema, { text: 'abc' })).toMatchObject({ ok: true, value: { text: 'abc', count: 1, time: '1s' } })
  })

  it.each([
    [{ text: '' }, '`text`: expected text that is not empty; got ""'],
    [{ text: 'abcdef' }, '`text`: expected at most 5 characters; got "abcdef"'],
    [{ many: 'a' }, '`many`: expected at least 2 characters; got "a"'],
    [{ text: 5 }, '`text`: expected text; got 5 (put it in quotes)'],
    [{ text: null }, '`text`: expected text; got null (write a value, or remove the key)'],
    [{ count: 1.5 }, '`count`: expected a whole number; got 1.5'],
    [{ count: 'x' }, '`count`: expected a number; got "x"'],
    [{ count: '7' }, '`count`: expected a number; got "7" (write it without quotes)'],
    [{ count: 10 }, '`count`: expected a number of at most 9; got 10'],
    [{ count: Number.NaN }, '`count`: expected a number; got NaN'],
    [{ share: 0 }, '`share`: expected a number of more than 0; got 0'],
    [{ on: 'off' }, '`on`: expected true or false; got "off" (write false)'],
    [{ on: 'Yes' }, '`on`: expected true or false; got "Yes" (write true)'],
    [{ mode: 'fats' }, '`mode`: expected one of `fast`, `slow`; got "fats" (did you mean `fast`?)'],
    [{ mode: 3 }, '`mode`: expected one of `fast`, `slow`; got 3'],
    [{ list: [] }, '`list`: expected a list of at least 1; got an empty list'],
    [{ list: ['a', 'b', 'c'] }, '`list`: expected a list of at most 2; got a list of 3'],
    [{ list: [1] }, '`list[0]`: expected text; got 1 (put it in quotes)'],
    [{ list: 'a' }, '`list`: expected a list; got "a"'],
    [{ time: 10 }, '`time`: a duration is a whole number and a unit: 500ms, 90s, 10m, 2h, 7d; got 10'],
    [{ time: '0s' }, '`time`: a duration of nothing is not allowed here; got "0s"'],
    [{ time: '9999d' }, '`time`: a duration is at most 3650d; got "9999d"'],
    [{ shape: 5 }, '`shape`: expected text or a mapping; got 5'],
    [{ shape: { id: 5 } }, '`shape.id`: expected text; got 5 (put it in quotes)'],
    [{ shape: {} }, '`shape.id` is missing: expected text'],
    [{ thing: { kind: 'c' } }, '`thing.kind`: expected one of `a`, `b`; got "c"'],
    [{ thing: {} }, '`thing.kind` is missing: expected one of `a`, `b`'],
    [{ thing: 'a' }, '`thing`: expected a mapping; got "a"'],
    [{ moed: 'fast' }, 'unknown key `moed`; did you mean `mode`?'],
    [{ thing: { kind: 'a', extra: 1 } }, 'unknown key `extra` (known here: kind)'],
    [[], 'the document: expected a mapping; got an empty list'],
    ['x', 'the document: expected a mapping; got "x"'],
  ])('says what is wrong with %j', (value, expected) => {
    expect(findings(value)).toEqual([expected])
  })

  it('tells everything at once, unknown keys one by one', () => {
    expect(findings({ text: 5, mode: 'x', zzzzz: 1, qqqqq: 2 })).toHaveLength(4)
  })

  it('never shows what may be a secret', () => {
    expect(findings({ key: 'sk-live-12345' })).toEqual([
      '`key`: expected the name of an environment variable (letters, digits, _), not its value',
    ])
  })

  it('shows no control character of a value, and not all of a long one', () => {
    const [message = ''] = findings({ mode: `\u001b[31m${'x'.repeat(500)}\n` })
    expect(message).toContain('\\u{1b}[31m')
    expect(message.length).toBeLessThan(200)
  })
})
