import { describe, expect, it } from 'vitest'
import { boundedData, cut, plainLine, plainText } from './bounded.ts'

describe('a text that is cut', () => {
  it('keeps what fits, and marks the cut', () => {
    expect(cut('abcde', 5)).toBe('abcde')
    expect(cut('abcdef', 5)).toBe('abcd…')
  })

  it('is never cut through a character', () => {
    expect(cut('abc😀def', 5)).toBe('abc…')
    expect(cut('ab😀cdef', 5)).toBe('ab😀…')
    expect(cut('😀bcdef', 5)).toBe('😀bc…')
  })

  it('shows what hides, and counts what is shown', () => {
    expect(plainText('a\u202Eb', 20)).toBe('a⟦U+202E⟧b')
    expect(plainText('\u202E'.repeat(20), 20)).toHaveLength(20)
    expect(plainText('x'.repeat(30), 20)).toBe(`${'x'.repeat(19)}…`)
  })

  it('is one line where one is wanted', () => {
    expect(plainLine('  a \n\t b\r\nc  ', 20)).toBe('a b c')
    expect(plainLine(`${' '.repeat(25)}${'x'.repeat(20)}`, 20)).toBe(`${'x'.repeat(14)}…`)
    expect(plainLine('x'.repeat(30), 20)).toBe(`${'x'.repeat(19)}…`)
  })
})

describe('the data of an event', () => {
  it('keeps its shape', () => {
    const data = { text: 'a', number: 1.5, yes: true, nothing: null, list: [1, ['b'], { c: false }] }
    expect(boundedData(data)).toEqual(data)
    expect(boundedData({ a: undefined, b: () => 1, c: 1n })).toEqual({ b: null, c: null })
  })

  it('is cut in length, in number and in depth', () => {
    expect(boundedData('x'.repeat(1001))).toBe(`${'x'.repeat(999)}…`)
    expect(boundedData(Array.from({ length: 60 }, (_, n) => n))).toHaveLength(50)
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`k${n}`, n]))
    expect(Object.keys(boundedData(many) as object)).toHaveLength(50)
    expect(Object.keys(boundedData({ ['k'.repeat(200)]: 1 }) as object)).toEqual([`${'k'.repeat(99)}…`])
    const nested = (depth: number): unknown => (depth === 0 ? 'end' : { in: nested(depth - 1) })
    expect(boundedData(nested(6))).toEqual(nested(6))
    expect(JSON.stringify(boundedData(nested(7)))).toContain('{"in":"…"}')
    const lists = (depth: number): unknown => (depth === 0 ? 'end' : [lists(depth - 1)])
    expect(JSON.stringify(boundedData(lists(7)))).toBe('[[[[[["…"]]]]]]')
  })

  it('is cut in all: texts and keys share one room, and nothing is looked into after it is used up', () => {
    const texts = Array.from({ length: 40 }, () => 'x'.repeat(1000))
    const told = boundedData(texts) as string[]
    expect(told.slice(0, 20)).toEqual(texts.slice(0, 20))
    expect(told.slice(20).every((text) => text === '…')).toBe(true)
    expect(boundedData({ a: texts.slice(0, 20), b: { c: 1 }, d: 2 })).toMatchObject({ b: '…', d: 2 })
    const keys = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}${'k'.repeat(500)}`, 'v']))
    expect(boundedData({ keys, rest: ['x'] })).toMatchObject({ rest: '…' })
  })
})
