import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assertName, bodyOf, ChainVerifier, storedEvent } from './chain.ts'
import { type ChainedEvent, contentMatches, eventHash, genesisOf, placeHash } from './events/links.ts'

const meta = { at: '2026-01-01T00:00:00.000Z', actor: 'tester' }

function chainOf(stream: string, values: unknown[], firstPosition = 1): ChainedEvent[] {
  let prev = genesisOf(stream)
  return values.map((data, index) => {
    const body = bodyOf({ type: 'test.happened', v: 1, data }, meta)
    const event = {
      position: firstPosition + index,
      stream,
      version: index + 1,
      prev,
      hash: eventHash(prev, stream, index + 1, body),
      body,
    }
    prev = event.hash
    return event
  })
}

function verified(events: ChainedEvent[], heads = lastOf(events)): ChainVerifier['breaks'] {
  const verifier = new ChainVerifier()
  for (const event of events) verifier.feed(event)
  verifier.finish(heads)
  return verifier.breaks
}

function lastOf(events: ChainedEvent[]): ChainedEvent[] {
  return [...new Map(events.map((event) => [event.stream, event])).values()]
}

describe('the format', () => {
  it('is frozen: journals of earlier releases must still verify', () => {
    expect(genesisOf('task/1')).toBe('88a158bc05f3037ae33d7d60fdeb6f704e5266aea48829c2e9e629e653407523')
    expect(bodyOf({ type: 't', v: 1, data: { b: 1, a: [undefined, 'ü'] } }, meta)).toBe(
      '{"data":{"a":[null,"ü"],"b":1},"meta":{"actor":"tester","at":"2026-01-01T00:00:00.000Z"},"type":"t","v":1}',
    )
    expect(eventHash(genesisOf('task/1'), 'task/1', 1, '{}')).toBe('f04c9afadaaf9a5809ba5d1dd9d91a80926a78bfebc9900ffdedaa907f63ca54')
    expect(placeHash('0'.repeat(64), 1, 'f'.repeat(64))).toBe('f2f3df1b07c62fb659c53fe642be6f8aa331c1bbe164b56c7780fa7a79444ee2')
  })

  it('tells any two different events apart', () => {
    const input = fc.tuple(fc.constantFrom('a'.repeat(64), 'b'.repeat(64)), fc.string(), fc.nat(20), fc.string())
    fc.assert(
      fc.property(input, input, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        expect(eventHash(...one)).not.toBe(eventHash(...other))
      }),
    )
    expect(eventHash('a', '1:s', 1, 'x')).not.toBe(eventHash('a', 's', 1, 'x'))
    expect(eventHash('a', 's\n', 1, 'x')).not.toBe(eventHash('a', 's', 1, '\nx'))
  })

  it('gives back what went in', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const [row] = chainOf('s', [data])
        if (row === undefined) throw new Error('no event')
        expect(contentMatches(row)).toBe(true)
        const { type, v, meta: found, data: read } = storedEvent(row)
        expect({ type, v, found, read }).toEqual({ type: 'test.happened', v: 1, found: meta, read: JSON.parse(JSON.stringify(data)) })
      }),
    )
  })

  it('refuses an event that is too large', () => {
    expect(() => bodyOf({ type: 't', v: 1, data: 'x'.repeat(40_000_000) }, meta)).toThrow('over the limit')
  })
})

describe('names', () => {
  it.each(['task/1', 'ü', '😀', 'a b', 'x'.repeat(1000)])('keeps %j', (name) => {
    expect(() => assertName('a stream', name)).not.toThrow()
  })
  it.each(['', 'x'.repeat(1001), 'a\nb', 'a\u0000', 'a\u007f', '\ud800', 'a\udc00b'])('refuses %j', (name) => {
    expect(() => assertName('a stream', name)).toThrow('a stream')
  })
})

describe('the verifier', () => {
  const events = [...chainOf('a', [1, 2, 3]), ...chainOf('b', [4, 5], 4)]
  const at = (index: number): ChainedEvent => events[index] as ChainedEvent
  const changed = (index: number, change: Partial<ChainedEvent>) =>
    events.map((event, n) => (n === index ? { ...event, ...change } : event))

  it('finds nothing in whole chains', () => {
    const verifier = new ChainVerifier()
    for (const event of events) expect(verifier.feed(event)).toBe(true)
    verifier.finish(lastOf(events))
    expect([verifier.events, verifier.streams, verifier.breaks]).toEqual([5, 2, []])
  })

  it.each([
    ['an edited body', changed(1, { body: '{}' }), { stream: 'a', version: 2, position: 2, problem: /does not match its hash/ }],
    ['a missing event', events.toSpliced(1, 1), { stream: 'a', version: 3, position: 3, problem: /version 2 was expected/ }],
    ['a repeated event', events.toSpliced(1, 0, at(0)), { stream: 'a', version: 1, position: 1, problem: /version 2 was expected/ }],
    [
      'a rewritten event',
      changed(0, chainOf('a', ['forged'])[0] as ChainedEvent),
      { stream: 'a', version: 2, position: 2, problem: /does not follow/ },
    ],
    [
      'an event of another stream',
      changed(3, { ...at(0), stream: 'b', position: 4 }),
      { stream: 'b', version: 1, position: 4, problem: /does not match/ },
    ],
  ])('finds %s', (_what, tampered, { problem, ...where }) => {
    const [first] = verified(tampered, lastOf(events))
    expect(first).toMatchObject(where)
    expect(first?.problem).toMatch(problem)
  })

  it.each([
    [
      'a cut tail',
      events.slice(0, 4),
      lastOf(events),
      { stream: 'b', version: 2, position: null, problem: /ends at version 1, but its head stands at 2/ },
    ],
    ['a stream that is gone', events.slice(0, 3), lastOf(events), { stream: 'b', version: 2, position: null, problem: /has no events/ }],
    ['a missing head', events, [at(2)], { stream: 'b', version: 2, position: null, problem: /no head/ }],
    [
      'another head',
      events,
      [at(2), { ...at(4), hash: 'f' }],
      { stream: 'b', version: 2, position: null, problem: /not the one that its head names/ },
    ],
  ])('finds %s', (_what, tampered, heads, { problem, ...where }) => {
    const breaks = verified(tampered, heads)
    expect(breaks).toHaveLength(1)
    expect(breaks[0]).toMatchObject(where)
    expect(breaks[0]?.problem).toMatch(problem)
  })

  it('lists a bounded number of breaks', () => {
    const verifier = new ChainVerifier()
    for (let n = 0; n < 5000; n += 1) verifier.feed({ ...at(0), version: 7, position: n })
    expect(verifier.breaks).toHaveLength(1000)
  })
})
