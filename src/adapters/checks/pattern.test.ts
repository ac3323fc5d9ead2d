import { describe, expect, it } from 'vitest'
import { search } from './pattern.ts'

describe('patterns', () => {
  it('match anywhere', () => {
    expect(search('b+', 'abbc')).toEqual({ kind: 'found' })
    expect(search('^b', 'abbc')).toEqual({ kind: 'not_found' })
    expect(search('(?m)^b', 'a\nb')).toEqual({ kind: 'found' })
  })

  it.each(['(a', '(?=a)b', '(a)\\1', 'a{1001}', '[z-a]'])('that no linear engine can run are refused: %s', (source) => {
    expect(search(source, 'a')).toEqual({ kind: 'bad_pattern', why: expect.stringMatching(/./) })
  })

  const evil = [
    '(a+)+$',
    '(a|a)*b',
    '^(a|aa)+$',
    '(a*)*c',
    '(.*a){12}b',
    '(x+x+)+y',
    '([a-zA-Z]+)*$',
    '(a|b|ab)*c',
    '(\\w+\\s?)*$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ]
  it.each(evil)('that ruin a backtracking engine end: %s', (source) => {
    const found = search(source, `${'a'.repeat(200_000)}!`)
    expect(['found', 'not_found']).toContain(found.kind)
  })

  it('that would take too long on a text are refused before they begin', () => {
    expect(search('((a{0,100}){0,10})$', 'a'.repeat(1_000_000))).toEqual({
      kind: 'too_costly',
      why: expect.stringContaining('1000000 characters'),
    })
  })
})
