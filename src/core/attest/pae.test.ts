import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { preAuthEncoding } from './pae.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const bytes = (of: string) => new TextEncoder().encode(of)

describe('the bytes that a DSSE signature covers', () => {
  it('are those of the example in the protocol', () => {
    expect(text(preAuthEncoding('http://example.com/HelloWorld', bytes('hello world')))).toBe(
      'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
    )
  })

  it('count bytes, not characters', () => {
    expect(text(preAuthEncoding('é', bytes('ü')))).toBe('DSSEv1 2 é 2 ü')
  })

  it('differ for every two pairs that differ', () => {
    const pair = fc.tuple(fc.string({ maxLength: 6 }), fc.string({ maxLength: 6 }))
    fc.assert(
      fc.property(pair, pair, ([typeA, bodyA], [typeB, bodyB]) => {
        fc.pre(typeA !== typeB || bodyA !== bodyB)
        expect(text(preAuthEncoding(typeA, bytes(bodyA)))).not.toBe(text(preAuthEncoding(typeB, bytes(bodyB))))
      }),
    )
  })
})
