import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Checkpoint, StreamMark } from '../../contract/attest/checkpoint.ts'
import { checkpointText, readCheckpoint, rootOf, signedText, sortedMarks } from './checkpoint-text.ts'

const hash = fc.stringMatching(/^[0-9a-f]{64}$/)
const name = fc.stringMatching(/^[a-z]{1,8}\/[a-zA-Z0-9 äß.-]{1,20}$/)
const mark: fc.Arbitrary<StreamMark> = fc.record({ stream: name, version: fc.integer({ min: 1, max: 1e6 }), hash })
const checkpoint: fc.Arbitrary<Checkpoint> = fc
  .record({
    place: hash,
    position: fc.nat(1e6),
    streams: fc.uniqueArray(mark, { maxLength: 5, selector: ({ stream }) => stream }),
  })
  .map(({ place, position, streams }) => {
    const sorted = sortedMarks(streams)
    return { at: '2026-11-16T05:00:00.000Z', position, events: position, place, root: rootOf(sorted), streams: sorted, key: 'MCow' }
  })

describe('the text of a checkpoint', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(checkpoint, (made) => {
        const read = readCheckpoint(signedText(checkpointText(made), 'c2ln'))
        expect(read).toEqual({ ok: true, value: { checkpoint: made, text: checkpointText(made), signature: 'c2ln' } })
      }),
    )
  })

  it('means something else, or nothing, with any character changed', () => {
    fc.assert(
      fc.property(checkpoint, fc.nat(), fc.constantFrom('0', 'x', ' ', '\n'), (made, at, other) => {
        const text = checkpointText(made)
        const index = at % text.length
        fc.pre(text[index] !== other)
        const read = readCheckpoint(signedText(`${text.slice(0, index)}${other}${text.slice(index + 1)}`, 'c2ln'))
        expect(read.ok && read.value.text === text).toBe(false)
      }),
    )
  })

  it.each([
    ['nothing', '', 'does not begin'],
    ['another file', 'hello\n', 'does not begin'],
    ['no signature', 'assay checkpoint 1\nat x\n', 'no signature'],
    ['fields in another order', 'assay checkpoint 1\nposition 1\nsignature c2ln\n', 'should say "at"'],
  ])('is refused for %s', (_what, text, why) => {
    expect(readCheckpoint(text)).toEqual({ ok: false, error: expect.stringContaining(why) })
  })
})
