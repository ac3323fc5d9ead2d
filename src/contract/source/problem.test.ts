import { describe, expect, it } from 'vitest'
import { arrange, formatPath, formatProblem, type Problem, placeFindings } from './problem.ts'
import { excerpt, shown, visible } from './shown.ts'

describe('formatProblem', () => {
  it('is file, line, column, message and what to do', () => {
    expect(formatProblem({ file: 'a.yaml', line: 3, column: 5, path: 'x', message: 'wrong', fix: 'mend it' })).toBe(
      'a.yaml:3:5: wrong (mend it)',
    )
    expect(formatProblem({ file: '--flag', path: 'x', message: 'wrong' })).toBe('--flag: wrong')
  })

  it('is one line whatever the file is called', () => {
    expect(formatProblem({ file: 'a\n::error::b.yaml', line: 1, column: 1, path: '', message: 'x\r\ny' })).toBe(
      'a\\n::error::b.yaml:1:1: x\\u{d}\\ny',
    )
  })
})

describe('formatPath', () => {
  it.each([
    [[], ''],
    [['tasks', 0, 'acceptanceCriteria', 1], 'tasks[0].acceptanceCriteria[1]'],
    [['agents', 'a.b'], 'agents["a.b"]'],
    [['agents', 'a b', 'role'], 'agents["a b"].role'],
  ])('%j is %s', (path, text) => {
    expect(formatPath(path)).toBe(text)
  })
})

describe('arrange', () => {
  it('orders by place and says nothing twice', () => {
    const at = (line: number, column: number, message: string): Problem => ({ file: 'a', line, column, path: '', message })
    expect(arrange([at(2, 1, 'c'), at(1, 9, 'b'), at(1, 2, 'a'), at(2, 1, 'c'), at(10, 1, 'd')]).map(({ message }) => message)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ])
  })

  it('places findings by key or by value', () => {
    const placed = placeFindings(
      [
        { path: ['a'], at: 'key', message: 'k' },
        { path: ['a'], message: 'v', fix: 'f' },
      ],
      (path, at) => ({ file: path.join(), line: 1, column: at === 'key' ? 1 : 4 }),
    )
    expect(placed).toEqual([
      { file: 'a', line: 1, column: 1, path: 'a', message: 'k' },
      { file: 'a', line: 1, column: 4, path: 'a', message: 'v', fix: 'f' },
    ])
  })
})

describe('shown', () => {
  it.each([
    ['x', '"x"'],
    [3, '3'],
    [null, 'null'],
    [undefined, 'nothing'],
    [[], 'an empty list'],
    [[1, 2], 'a list of 2'],
    [{}, 'a mapping'],
  ])('shows %j as %s', (value, text) => {
    expect(shown(value)).toBe(text)
  })

  it('writes out what cannot be seen, and cuts with a mark', () => {
    expect(visible('a\u202eb\u200bc\u0007\ud800')).toBe('a\\u{202e}b\\u{200b}c\\u{7}\\u{d800}')
    expect(excerpt('y'.repeat(81))).toBe(`${'y'.repeat(80)}…`)
    expect(excerpt('😀'.repeat(80))).toBe('😀'.repeat(80))
  })
})
