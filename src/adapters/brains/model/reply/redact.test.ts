import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactor } from './redact.ts'

const key = 'sk-Zq81xN4vTr77/Lw02+pYd5'

describe('a text without the key', () => {
  it('has neither the key, nor its encodings, nor a long piece of it', () => {
    const forms = [key, key.toUpperCase(), key.slice(3, 15), encodeURIComponent(key), Buffer.from(key).toString('hex')]
    const redact = redactor(key)
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...forms), fc.string(), (before, form, after) => {
        const clean = redact(`${before}${form}${after}`)
        expect(clean.toLowerCase()).not.toContain(form.toLowerCase())
        expect(clean).toContain('[key removed]')
      }),
    )
    for (const before of ['', 'B', 'Be', 'Bearer ']) {
      const encoded = Buffer.from(`${before}${key} and more`).toString('base64')
      expect(redact(encoded)).toContain('[key removed]')
    }
  })

  it('is the text itself, where the key is not in it, is none, or is too short to be a secret', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        fc.pre(!text.includes(key))
        expect(redactor(key)(text)).toBe(text)
        expect(redactor(undefined)(text)).toBe(text)
        expect(redactor('test')(text)).toBe(text)
      }),
    )
  })

  it('is found in long texts too', () => {
    const long = 'x'.repeat(50_000)
    expect(redactor(key)(`${long}${key}${long}`)).toBe(`${long}[key removed]${long}`)
  })
})
