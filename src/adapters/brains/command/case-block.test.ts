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
    ['before more words', '{"summary":"draft"}\nand then I went on', '{"summary":"draft"}', '\nand then I went on'],
    ['in the middle of a sentence', 'Done: {"summary":"x"}, as you asked.', '{"summary":"x"}', 'Done: , as you asked.'],
    ['after a bracket in prose', '[info] see [1] {"summary":"x"}', '{"summary":"x"}', '[info] see [1] '],
    [
      'with its summary last',
      'x {"ac_coverage":[{"criterion":"AC1"}],"summary":"x"} y',
      '{"ac_coverage":[{"criterion":"AC1"}],"summary":"x"}',
      'x  y',
    ],
    ['with braces in its texts', '{"summary":"a } b { \\" c"}', '{"summary":"a } b { \\" c"}', ''],
    ['in a fence that is never closed', '```json\n{"summary":"x"}\nend', '{"summary":"x"}', '```json\n\nend'],
    ['the last line of many', '{"step":1}\n{"summary":"done"}', '{"summary":"done"}', '{"step":1}\n'],
  ])('is found: %s', (_name, output, raw, rest) => {
    expect(find(output)).toEqual({ raw, rest })
  })

  it.each([
    ['nothing', ''],
    ['words', 'all done, summary: fine'],
    ['an object without summary', '{"result":"ok"}'],
    ['a list', '[{"summary":"x"}]'],
    ['a fence of another language', '```js\n{"summary":"x"}\n```\nend'],
    ['a summary deeper inside', '{"report":{"summary":"x"}}'],
  ])('is not taken from %s', (_name, output) => {
    expect(find(output)).toBe(undefined)
  })

  it('is not the shape of one that its prompt shows', () => {
    const shape = '{"summary":"…","ac_coverage":[{"criterion":"…","pointer":"…"}]}'
    expect(find(`# Your case\n${shape}\nand so on`)).toBeUndefined()
    expect(find(`{"summary":"done"}\n${shape}`)?.raw).toBe('{"summary":"done"}')
  })

  it('is the last of several, wherever the others are', () => {
    expect(find('```json\n{"summary":"first"}\n```\n{"summary":"second"}')?.raw).toBe('{"summary":"second"}')
    expect(find('```json\n{"summary":"first"}\n```\n```json\n{"summary":"second"}\n```')?.raw).toBe('{"summary":"second"}')
    expect(find('```json\n{"summary":"case"}\n```\n{"tokens":12}')?.raw).toBe('{"summary":"case"}')
  })

  it.each([
    ['a comma too many', 'log\n{"summary":"done",}', '{"summary":"done",}'],
    ['no end, in a fence', '```json\n{"summary": "done"\n```\n', '{"summary": "done"'],
    [
      'cut in a list',
      'log {"summary":"s","ac_coverage":[{"criterion":"AC1","pointer":"a:1"},{"crit',
      '{"summary":"s","ac_coverage":[{"criterion":"AC1","pointer":"a:1"},{"crit',
    ],
    ['cut in a text', '{"summary":"s and then', '{"summary":"s and then'],
    ['cut before its summary ends, which comes last', '{"ac_coverage":[],"summary":"s', '{"ac_coverage":[],"summary":"s'],
    ['the wrong quotes', "so: {'summary': 'done'}", "{'summary': 'done'}"],
    ['broken after a whole one', '{"summary":"a"}\n{"summary":"b",', '{"summary":"b",'],
  ])('counts although it is broken, so that the worker hears of it: %s', (_name, output, raw) => {
    expect(find(output)?.raw).toBe(raw)
  })

  it('that is too long is handed over as too long, never left out', () => {
    const long = `{"summary":"${'x'.repeat(200)}"}`
    expect(find(`log\n${long}\n`, 100)?.raw).toBe(long.slice(0, 101))
  })

  it('is looked for within a limit, past which what begins like a case counts as one', () => {
    const braces = `${'{"a":\n'.repeat(100_000)}}`
    expect(find(braces)).toBe(undefined)
    expect(find(`${braces}{"summary":"x","ac_coverage":[]}`)?.raw).toMatch(/^\{"summary":"x"/)
  })
})
