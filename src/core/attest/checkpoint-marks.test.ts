import { describe, expect, it } from 'vitest'
import type { Checkpoint, StreamMark } from '../../contract/attest/checkpoint.ts'
import { sha256Hex } from '../../contract/canonical.ts'
import { checkpointText, readCheckpoint, rootOf, signedText, sortedMarks } from './checkpoint-text.ts'

const mark = (stream: string, version = 1, digit = 'a'): StreamMark => ({ stream, version, hash: digit.repeat(64) })
const marks = [mark('task/b', 2, 'b'), mark('task/a'), mark('task/Z', 3, 'c')]
const sorted = () => sortedMarks(marks)
const made = (more: Partial<Checkpoint> = {}): Checkpoint => ({
  at: '2026-11-16T05:00:00.000Z',
  position: 9,
  events: 6,
  place: 'd'.repeat(64),
  root: rootOf(sorted()),
  key: 'MCow',
  streams: sorted(),
  ...more,
})
const whole = (checkpoint = made(), signature = 'c2ln') => signedText(checkpointText(checkpoint), signature)
const why = (text: string) => {
  const read = readCheckpoint(text)
  return read.ok ? 'read' : read.error
}

describe('the heads of a checkpoint', () => {
  it('are in one order, whatever order they came in', () => {
    expect(sorted().map(({ stream }) => stream)).toEqual(['task/Z', 'task/a', 'task/b'])
    expect(sortedMarks([...marks].reverse())).toEqual(sorted())
    expect(marks.map(({ stream }) => stream)).toEqual(['task/b', 'task/a', 'task/Z'])
  })

  it('have one hash, of name, version and hash of each', () => {
    expect(rootOf([mark('x', 7)])).toBe(sha256Hex(`assay heads 1\nx 7 ${'a'.repeat(64)}\n`))
    expect(rootOf([])).toBe(sha256Hex('assay heads 1\n'))
    expect(new Set([rootOf([mark('x')]), rootOf([mark('x', 2)]), rootOf([mark('x', 1, 'b')]), rootOf([mark('y')])]).size).toBe(4)
  })
})

describe('a checkpoint', () => {
  it('is read where everything in it fits', () => {
    expect(why(whole())).toBe('read')
    expect(why(whole().replace(/\n$/, ''))).toBe('read')
  })

  it.each([
    ['a root that is not that of its streams', () => whole(made({ root: rootOf([mark('x')]) })), 'root is not that'],
    ['a stream too few', () => whole().replace(/^\d+ a+ task\/a\n/m, ''), 'lists 2 streams and says 3'],
    ['a stream too many', () => whole().replace('signature', `1 ${'e'.repeat(64)} task/new\nsignature`), 'lists 4 streams and says 3'],
    ['a number that is written otherwise', () => whole().replace('position 9', 'position 9.0'), 'not written as'],
    ['something before its signature', () => whole(made(), 'c2ln').replace('signature', ' signature'), 'no signature'],
    ['something after its signature', () => `${whole().trimEnd()}!\n`, 'no signature'],
    ['a field out of place', () => whole().replace('position', 'positions'), 'line 3 should say "position"'],
    ['a hash that is none', () => whole().replace(/^(\d+) a+ task\/a$/m, '$1 nothing task/a'), 'this is no checkpoint'],
  ])('is refused with %s', (_what, text, expected) => {
    expect(why(text())).toContain(expected)
  })
})
