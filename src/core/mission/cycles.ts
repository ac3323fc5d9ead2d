/** A way from a node to one that it waits for. */
export interface Edge<Why> {
  to: number
  /** Where that was written. */
  why: Why
}

export interface Cycle<Why> {
  /** Nodes in the order of waiting; the last one waits for the first. */
  nodes: number[]
  /** The edge that closes the circle. */
  closing: Why
}

/** More circles than this are not listed: mending these mends most of the rest. */
const mostCycles = 20

/** Circles of a graph, each found once, without recursion: a chain may be as long as the graph. */
export function findCycles<Why>(edges: readonly (readonly Edge<Why>[])[]): Cycle<Why>[] {
  const cycles: Cycle<Why>[] = []
  const finished = new Uint8Array(edges.length)
  /** Place on the way, counted from 1; 0 for nodes that are not on it. */
  const place = new Uint32Array(edges.length)
  for (let start = 0; start < edges.length; start++) {
    if (finished[start] === 1) continue
    const way = [{ node: start, next: 0 }]
    place[start] = 1
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const edge = edges[top.node]?.[top.next++]
      if (edge === undefined) {
        finished[top.node] = 1
        place[top.node] = 0
        way.pop()
      } else if (finished[edge.to] !== 1) {
        const on = place[edge.to] ?? 0
        if (on === 0) {
          way.push({ node: edge.to, next: 0 })
          place[edge.to] = way.length
        } else if (cycles.length < mostCycles) {
          cycles.push({ nodes: way.slice(on - 1).map(({ node }) => node), closing: edge.why })
        }
      }
    }
  }
  return cycles
}
