import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, digestOf } from './canonical.ts'

/** The same value with the members of every object in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

describe('canonical JSON', () => {
  it('says what JSON says, and the same whatever the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    )
  })

  it('orders keys by code unit, numbers among them too', () => {
    const value = JSON.parse('{"b":1,"10":2,"9":3,"a":{"__proto__":4,"Z":5},"é":[],"":{}}')
    expect(canonicalJson(value)).toBe('{"":{},"10":2,"9":3,"a":{"Z":5,"__proto__":4},"b":1,"é":[]}')
  })

  it('leaves out members that are undefined, and keeps their place in lists', () => {
    expect(canonicalJson({ a: undefined, b: [undefined, null] })).toBe('{"b":[null,null]}')
  })

  it('refuses what JSON cannot say, at any depth', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, Symbol('s'), undefined]) {
      expect(() => canonicalJson(value)).toThrow(TypeError)
      if (value !== undefined) expect(() => canonicalJson({ a: [{ b: value }] })).toThrow(TypeError)
    }
  })

  it('gives a digest that other tools compute too', () => {
    expect(digestOf({ b: 1, a: 'é' })).toBe('sha256:aa58fba8483623bed37c1b02edfccbdd9a53123837c20bfa4cb4049993a2872e')
  })
})
