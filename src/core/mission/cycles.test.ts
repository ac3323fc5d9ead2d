import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Edge, findCycles } from './cycles.ts'

function graph(count: number, pairs: readonly (readonly [number, number])[]): Edge<string>[][] {
  const edges: Edge<string>[][] = Array.from({ length: count }, () => [])
  for (const [from, to] of pairs) edges[from]?.push({ to, why: `${from}>${to}` })
  return edges
}

/** Takes nodes that wait for nothing away until none is left; what remains waits in a circle, or for one. */
function hasCycle(count: number, pairs: readonly (readonly [number, number])[]): boolean {
  let left = new Set(Array.from({ length: count }, (_, node) => node))
  for (;;) {
    const waiting = new Set(pairs.filter(([from, to]) => left.has(from) && left.has(to)).map(([from]) => from))
    if (waiting.size === left.size) return left.size > 0
    left = waiting
  }
}

describe('findCycles', () => {
  it('names the way round and the edge that closes it', () => {
    expect(
      findCycles(
        graph(4, [
          [0, 1],
          [1, 2],
          [2, 0],
          [3, 0],
        ]),
      ),
    ).toEqual([{ nodes: [0, 1, 2], closing: '2>0' }])
    expect(
      findCycles(
        graph(3, [
          [0, 1],
          [0, 2],
          [1, 2],
        ]),
      ),
    ).toEqual([])
    expect(
      findCycles(
        graph(4, [
          [0, 1],
          [1, 0],
          [2, 3],
          [3, 2],
        ]),
      ),
    ).toHaveLength(2)
  })

  it('finds a circle exactly where there is one, and every circle is real', () => {
    const pairs = fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 30 })
    fc.assert(
      fc.property(pairs, (edges) => {
        const cycles = findCycles(graph(12, edges))
        expect(cycles.length > 0).toBe(hasCycle(12, edges))
        for (const { nodes, closing } of cycles) {
          const steps = nodes.map((node, index) => `${node}>${nodes[(index + 1) % nodes.length]}`)
          const known = new Set(edges.map(([from, to]) => `${from}>${to}`))
          expect(steps.every((step) => known.has(step))).toBe(true)
          expect(steps.at(-1)).toBe(closing)
          expect(new Set(nodes).size).toBe(nodes.length)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('goes round 100,000 nodes without a deep stack, and lists a bounded number', () => {
    const count = 100_000
    const ring = Array.from({ length: count }, (_, node): [number, number] => [node, (node + 1) % count])
    const [cycle, ...rest] = findCycles(graph(count, ring))
    expect(cycle?.nodes).toHaveLength(count)
    expect(rest).toEqual([])
    const dense = Array.from({ length: 60 * 60 }, (_, pair): [number, number] => [Math.floor(pair / 60), pair % 60])
    expect(findCycles(graph(60, dense))).toHaveLength(20)
  })
})
