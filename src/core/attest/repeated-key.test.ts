import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repeatedKey } from './repeated-key.ts'

describe('a key that stands twice', () => {
  it('is found at any depth, however it is written', () => {
    expect(repeatedKey('{"a":1,"a":2}')).toBe('a')
    expect(repeatedKey('{"a":1,"\\u0061" : 2}')).toBe('a')
    expect(repeatedKey('[{"b":{"c":[],"d":"}","c":0}}]')).toBe('c')
    expect(repeatedKey('{"a\\"":1,"a\\"":2}')).toBe('a"')
  })

  it('is not seen in keys of different objects, nor in texts that look like keys', () => {
    expect(repeatedKey('{"a":{"a":{"a":"a"}},"b":["a","a","{\\"a\\":1,\\"a\\":2}"]}')).toBeUndefined()
    fc.assert(fc.property(fc.json(), (text) => repeatedKey(text) === undefined))
  })
})
