import { describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../contract/attest/checkpoint.ts'
import { eventHash, genesisOf } from '../../contract/events/links.ts'
import { rootOf, sortedMarks } from './checkpoint-text.ts'
import { CheckpointComparison, JournalMark } from './compare.ts'

/** A journal by what its events say: `a1` is an event of stream `a`. */
function chained(words: readonly string[]) {
  const heads = new Map<string, { version: number; hash: string }>()
  return words.map((word, index) => {
    const stream = word[0] ?? ''
    const before = heads.get(stream) ?? { version: 0, hash: genesisOf(stream) }
    const version = before.version + 1
    const head = { version, hash: eventHash(before.hash, stream, version, word) }
    heads.set(stream, head)
    return { stream, ...head, position: index + 1 }
  })
}

function checkpointOf(words: readonly string[]): Checkpoint {
  const mark = new JournalMark()
  for (const event of chained(words)) mark.feed(event)
  const streams = sortedMarks(mark.heads)
  const { position, events, place } = mark
  return { at: '2026-11-16T05:00:00.000Z', position, events, place, root: rootOf(streams), streams, key: 'k' }
}

function compared(before: readonly string[], after: readonly string[]) {
  const comparison = new CheckpointComparison(checkpointOf(before))
  for (const event of chained(after)) comparison.feed(event)
  return { breaks: comparison.finish(), isOlder: comparison.isOlder }
}

const before = ['a1', 'b1', 'a2', 'b2', 'a3']

describe('a journal against its checkpoint', () => {
  it.each([
    ['the same', before],
    ['grown', [...before, 'a4', 'c1', 'b3']],
  ])('%s: nothing to say', (_what, after) => {
    expect(compared(before, after)).toEqual({ breaks: [], isOlder: false })
  })

  it('cut: says rollback, and how far each stream goes', () => {
    const { breaks, isOlder } = compared(before, before.slice(0, 3))
    expect(isOlder).toBe(true)
    expect(breaks[0]).toMatchObject({ stream: '(journal)', position: 3, problem: expect.stringContaining('ROLLBACK') })
    expect(breaks.slice(1)).toMatchObject([
      { stream: 'a', version: 2, problem: expect.stringContaining('up to version 3') },
      { stream: 'b', version: 1 },
    ])
  })

  it.each([
    ['rewritten', ['a1', 'b1', 'aX', 'b2', 'a3'], 'a'],
    ['rewritten and grown', ['a1', 'b1', 'aX', 'b2', 'a3', 'a4'], 'a'],
    ['without a stream, others in its place', ['a1', 'a2', 'a3', 'a4', 'a5'], 'b'],
    ['with an event put in', ['a1', 'b1', 'b2', 'bX', 'a2', 'a3'], 'b'],
    ['with a stream put in', ['a1', 'c1', 'b1', 'a2', 'b2', 'a3'], 'c'],
  ])('%s: names the stream, and is no mere older copy', (_what, after, stream) => {
    const { breaks, isOlder } = compared(before, after)
    expect(breaks.map((one) => one.stream)).toContain(stream)
    expect(isOlder).toBe(false)
  })

  it('in another order: says so at the position of the checkpoint', () => {
    const { breaks } = compared(before, ['b1', 'a1', 'a2', 'b2', 'a3'])
    expect(breaks).toMatchObject([{ position: 5, problem: expect.stringContaining('order') }])
  })

  it('cut and rewritten: is no mere older copy', () => {
    expect(compared(before, ['a1', 'c1']).isOlder).toBe(false)
  })

  it('that cannot be read to its end: says from where', () => {
    const comparison = new CheckpointComparison(checkpointOf(before))
    for (const event of chained(before.slice(0, 2))) comparison.feed(event)
    expect(comparison.finish(false)).toMatchObject([{ position: 3, problem: expect.stringContaining('cannot be read') }])
    expect(comparison.isOlder).toBe(false)
  })
})
