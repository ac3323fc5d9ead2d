import { describe, expect, it } from 'vitest'
import { cut, displayWidth, table, wrap } from './table.ts'

describe('text on a terminal', () => {
  it('breaks at spaces, keeps its indentation and hangs further lines', () => {
    expect(wrap('  one two three four', 11, 4)).toBe('  one two\n    three\n    four')
    expect(wrap('word', 2)).toBe('word')
    expect(wrap('', 10)).toBe('')
  })

  it('counts wide characters as two columns and cuts with an ellipsis', () => {
    expect(displayWidth('日本x')).toBe(5)
    expect(cut('日本語', 5)).toBe('日本…')
    expect(cut('short', 5)).toBe('short')
    expect(cut('longer', 5)).toBe('long…')
  })

  it('aligns columns and never goes past the width', () => {
    const text = table(
      ['state', 'task'],
      [
        ['PASS', 'a very long title of a task'],
        ['held (operator)', 'b'],
      ],
      24,
    )
    expect(text.split('\n')).toEqual(['state            task', 'PASS             a very…', 'held (operator)  b'])
  })

  it('keeps a row of data in one line whatever an agent wrote into it', () => {
    expect(table(['task'], [['a\n\u001b[31mb\u202e']], 80).split('\n')).toHaveLength(2)
    expect(table(['task'], [['a\u001b[31mb']], 80)).toContain('⟦U+001B⟧')
  })
})
