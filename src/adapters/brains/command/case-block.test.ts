import { describe, expect, it } from 'vitest'
import { findPrintedCase } from './case-block.ts'

const find = (output: string, max = 10_000) => findPrintedCase(output, max)

describe('the case in what a worker printed', () => {
  it.each([
    ['bare', 'working…\n{"summary":"done"}\n', '{"summary":"done"}', 'working…\n'],
    [
      'bare over several lines',
      'log\n{\n  "summary": "done",\n  "ac_coverage": [\n    { "criterion": "AC1", "pointer": "a:1" }\n  ]\n}\n\n',
      '{\n  "summary": "done",\n  "ac_coverage": [\n    { "criterion": "AC1", "pointer": "a:1" }\n  ]\n}',
      'log\n',
    ],
    ['the whole output', '{"summary":"done"}', '{"summary":"done"}', ''],
    ['in a fence', 'log\n```json\n{"summary":"done"}\n```\nbye\n', '{"summary":"done"}', 'log\nbye\n'],
    ['in a fence without a name', '```\n{"summary":"done"}\n```', '{"summary":"done"}', ''],
    ['in a fence of tildes', '~~~~ JSON\n{"summary":"done"}\n~~~~\n', '{"summary":"done"}', ''],
    ['the last line of many', '{"step":1}\n{"summary":"done"}', '{"summary":"done"}', '{"step":1}\n'],
  ])('is found: %s', (_name, output, raw, rest) => {
    expect(find(output)).toEqual({ raw, rest })
  })

  it.each([
    ['nothing', ''],
    ['words', 'all done, summary: fine'],
    ['an object without summary', '{"result":"ok"}'],
    ['a list', '[{"summary":"x"}]'],
    ['an object in the middle', '{"summary":"draft"}\nbut then I went on'],
    ['an object after other words on its line', 'see {"summary":"x"}'],
    ['a fence of another language', '```js\n{"summary":"x"}\n```\nend'],
    ['a fence that is never closed', '```json\n{"summary":"x"}\nend'],
    ['a summary deeper inside', '{"report":{"summary":"x"}}'],
  ])('is not taken from %s', (_name, output) => {
    expect(find(output)).toBe(undefined)
  })

  it('is the last of several, wherever the others are', () => {
    expect(find('```json\n{"summary":"first"}\n```\n{"summary":"second"}')?.raw).toBe('{"summary":"second"}')
    expect(find('```json\n{"summary":"first"}\n```\n```json\n{"summary":"second"}\n```')?.raw).toBe('{"summary":"second"}')
    expect(find('```json\n{"summary":"case"}\n```\n{"tokens":12}')?.raw).toBe('{"summary":"case"}')
  })

  it('counts although it is broken, so that the worker hears of it', () => {
    expect(find('log\n{"summary":"done",}')?.raw).toBe('{"summary":"done",}')
    expect(find('```json\n{"summary": "done"\n```\n')?.raw).toBe('{"summary": "done"')
  })

  it('is looked for within a limit', () => {
    expect(find(`{"summary":"${'x'.repeat(200)}"}`, 100)).toBe(undefined)
    const braces = `${'{\n'.repeat(100_000)}}`
    expect(find(braces, 1_000_000)).toBe(undefined)
  })
})
