import { canonicalJson } from './canonical.ts'
import type { EventMeta, NewEvent, StoredEvent } from './events/envelope.ts'
import type { NewWork } from './work.ts'
import { type ChainedEvent, contentMatches, genesisOf } from './events/links.ts'

/** Where a stream ends, kept apart from its events so that a cut tail is seen. */
export interface StreamHead {
  stream: string
  version: number
  hash: string
}

export interface BrokenLink {
  stream: string
  version: number
  position: number | null
  problem: string
}

/** Most characters that one event may take, and most breaks that a verification lists. */
const maxBodyLength = 32 * 1024 * 1024
const maxBreaks = 1000
const maxNameLength = 1000

/** The text that is stored and hashed: who, when, what, in one canonical form. */
export function bodyOf(event: NewEvent, meta: EventMeta): string {
  const body = canonicalJson({ type: event.type, v: event.v, data: event.data, meta })
  if (body.length > maxBodyLength)
    throw new RangeError(`${event.type}: ${body.length} characters are over the limit of ${maxBodyLength} for one event`)
  return body
}

/** The event as readers get it. The caller has checked its hash, so the body is what `bodyOf` wrote. */
export function storedEvent(row: ChainedEvent): StoredEvent {
  const { type, v, data, meta } = JSON.parse(row.body) as Pick<StoredEvent, 'type' | 'v' | 'data' | 'meta'>
  return { position: row.position, stream: row.stream, version: row.version, type, v, data, meta, prev: row.prev, hash: row.hash }
}

/** Names of streams, work and view rows: text that every store keeps and orders alike. Anything else is a bug of the caller. */
export function assertName(what: string, name: string): void {
  if (name.length === 0 || name.length > maxNameLength)
    throw new RangeError(`${what} must have 1 to ${maxNameLength} characters, not ${name.length}`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
  if (/[\u0000-\u001f\u007f]/.test(name) || !name.isWellFormed())
    throw new TypeError(`${what} has a control character or half a surrogate pair: ${JSON.stringify(name)}`)
}

/** Work as every store can keep and order it. Anything else is a bug of the caller, and the caller's alone. */
export function assertWork({ key, kind, scope, priority, delayMs }: NewWork): void {
  assertName('a key of work', key)
  assertName('a kind of work', kind)
  if (scope !== '') assertName('a scope of work', scope)
  if (!Number.isFinite(priority)) throw new RangeError(`the priority of work ${key} must be a number, not ${priority}`)
  if (delayMs !== undefined) wholeMilliseconds(`the delay of work ${key}`, delayMs)
}

/** A time as stores keep it; a part of a millisecond is taken for a whole one. */
export function wholeMilliseconds(what: string, ms: number): number {
  const whole = Math.ceil(ms)
  if (!Number.isSafeInteger(whole)) throw new RangeError(`${what} must be a number of milliseconds, not ${ms}`)
  return whole
}

/** Follows every stream's chain while events are fed in the order of their positions. Memory grows with streams, not with events. */
export class ChainVerifier {
  readonly breaks: BrokenLink[] = []
  readonly #heads = new Map<string, { version: number; hash: string }>()
  #events = 0

  get events(): number {
    return this.#events
  }

  get streams(): number {
    return this.#heads.size
  }

  report(found: BrokenLink): void {
    if (this.breaks.length < maxBreaks) this.breaks.push(found)
  }

  /** True when the event is intact and follows its predecessor. */
  feed(event: ChainedEvent): boolean {
    this.#events += 1
    const before = this.#heads.get(event.stream) ?? { version: 0, hash: genesisOf(event.stream) }
    this.#heads.set(event.stream, { version: event.version, hash: event.hash })
    const problem = linkProblem(before, event)
    if (problem !== undefined) this.report({ stream: event.stream, version: event.version, position: event.position, problem })
    return problem === undefined
  }

  /** Compares where the chains ended with where the heads say that they end. */
  finish(heads: Iterable<StreamHead>): void {
    const unheaded = new Map(this.#heads)
    for (const head of heads) {
      const found = unheaded.get(head.stream)
      unheaded.delete(head.stream)
      const problem = headProblem(found, head)
      if (problem !== undefined) this.report({ stream: head.stream, version: head.version, position: null, problem })
    }
    for (const [stream, found] of unheaded) {
      this.report({ stream, version: found.version, position: null, problem: 'the stream has events but no head' })
    }
  }
}

function linkProblem(before: { version: number; hash: string }, event: ChainedEvent): string | undefined {
  if (!contentMatches(event)) return 'the event does not match its hash: it was changed after it was written'
  if (event.version !== before.version + 1)
    return `version ${before.version + 1} was expected here: events are missing, repeated or out of order`
  if (event.prev !== before.hash) return 'the event does not follow its predecessor: one of the two was replaced'
  return undefined
}

function headProblem(found: { version: number; hash: string } | undefined, head: StreamHead): string | undefined {
  if (found === undefined) return `the stream's head stands at version ${head.version}, but it has no events`
  if (found.version !== head.version) return `the stream ends at version ${found.version}, but its head stands at ${head.version}`
  if (found.hash !== head.hash) return "the stream's last event is not the one that its head names"
  return undefined
}
