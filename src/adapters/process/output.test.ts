import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CappedOutput } from './output.ts'

function feed(limit: number, chunks: readonly (string | Buffer)[]): CappedOutput {
  const output = new CappedOutput(limit)
  for (const chunk of chunks) output.push(Buffer.from(chunk))
  return output
}

const leftOut = /\n\[… (\d+) bytes left out here; at most \d+ are kept …\]\n/

describe('CappedOutput', () => {
  it('keeps everything up to the limit', () => {
    const output = feed(10, ['01234', '56789'])
    expect(output.text()).toBe('0123456789')
    expect(output.cut).toBe(false)
  })

  it('keeps both ends past the limit and says how much is missing', () => {
    const output = feed(10, ['0123456789abcdefghij'])
    expect(output.text()).toBe('01234\n[… 10 bytes left out here; at most 10 are kept …]\nfghij')
    expect(output.cut).toBe(true)
  })

  it('leaves out a character whole where the cut goes through it', () => {
    const output = feed(10, ['aaaé', 'é'.repeat(20), 'ézzz'])
    const [head, , tail] = output.text().split(leftOut)
    expect(head).toBe('aaaé')
    expect(tail).toBe('ézzz')
    expect(output.text()).not.toContain('\ufffd')
  })

  it('shows bytes that are no text without failing', () => {
    expect(feed(100, [Buffer.from([0xff, 0xfe, 0x00, 0x41])]).text()).toBe('\ufffd\ufffd\u0000A')
  })

  it('can keep nothing at all', () => {
    expect(feed(0, ['abc']).text()).toBe('\n[… 3 bytes left out here; at most 0 are kept …]\n')
  })

  it('is the same for the same bytes however they arrive, and every byte is kept or counted', () => {
    const ascii = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), maxLength: 60 })
    fc.assert(
      fc.property(fc.array(ascii, { maxLength: 12 }), fc.nat(64), (chunks, limit) => {
        const all = chunks.join('')
        const text = feed(limit, chunks).text()
        expect(text).toBe(feed(limit, [all]).text())
        if (all.length <= limit) {
          expect(text).toBe(all)
          return
        }
        const [head = '', count, tail = ''] = text.split(leftOut)
        expect(all.startsWith(head)).toBe(true)
        expect(all.endsWith(tail)).toBe(true)
        expect(head.length + tail.length).toBe(limit)
        expect(Number(count)).toBe(all.length - limit)
      }),
      { numRuns: 500 },
    )
  })
})
