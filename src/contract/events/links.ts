import { hash } from 'node:crypto'

/** An event as its chain sees it: `body` is the exact text that was hashed. */
export interface ChainedEvent {
  position: number
  stream: string
  version: number
  prev: string
  hash: string
  body: string
}

/** What a stream's first event follows: its own name, so that two streams cannot be exchanged for one another. */
export function genesisOf(stream: string): string {
  return hash('sha256', `assay stream 1\n${stream}`)
}

/** `prev` has a fixed length, the version ends at its line, the stream's length is told: no two events share an encoding. */
export function eventHash(prev: string, stream: string, version: number, body: string): string {
  return hash('sha256', `assay event 1\n${prev}\n${version}\n${stream.length}:${stream}\n${body}`)
}

/** Chains all streams of one store in the order of their positions, so that no row can move or vanish unseen. */
export function placeHash(previous: string, position: number, event: string): string {
  return hash('sha256', `assay place 1\n${previous}\n${position}\n${event}`)
}
export const firstPlace = '0'.repeat(64)

export function contentMatches(event: ChainedEvent): boolean {
  return eventHash(event.prev, event.stream, event.version, event.body) === event.hash
}
