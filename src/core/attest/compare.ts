import type { Checkpoint, StreamMark } from '../../contract/attest/checkpoint.ts'
import type { BrokenLink } from '../../contract/chain.ts'
import { firstPlace, placeHash } from '../../contract/events/links.ts'
import type { StoredEvent } from '../../contract/events/envelope.ts'

type Link = Pick<StoredEvent, 'stream' | 'version' | 'position' | 'hash'>

/** Follows a journal while its events are fed in the order of their positions. Memory grows with streams, not with events. */
export class JournalMark {
  readonly #heads = new Map<string, StreamMark>()
  #place = firstPlace
  #position = 0
  #events = 0

  feed({ stream, version, position, hash }: Link): void {
    this.#heads.set(stream, { stream, version, hash })
    this.#place = placeHash(this.#place, position, hash)
    this.#position = position
    this.#events += 1
  }

  get heads(): Iterable<StreamMark> {
    return this.#heads.values()
  }
  get place(): string {
    return this.#place
  }
  get position(): number {
    return this.#position
  }
  get events(): number {
    return this.#events
  }
}

/** Holds a journal against a checkpoint made of it earlier. Whatever it may have grown by since is no difference. */
export class CheckpointComparison {
  readonly #checkpoint: Checkpoint
  readonly #wanted: Map<string, StreamMark>
  readonly #reached = new Map<string, number>()
  readonly #breaks: BrokenLink[] = []
  readonly #mark = new JournalMark()
  /** Something of what is there is not what was there. */
  #rewritten = false

  constructor(checkpoint: Checkpoint) {
    this.#checkpoint = checkpoint
    this.#wanted = new Map(checkpoint.streams.map((mark) => [mark.stream, mark]))
  }

  feed(event: Link): void {
    this.#mark.feed(event)
    const { stream, version, position, hash } = event
    this.#reached.set(stream, version)
    const wanted = this.#wanted.get(stream)
    if (wanted?.version === version && wanted.hash !== hash)
      this.#changed({ stream, version, position, problem: 'the checkpoint knows another event here: the stream was rewritten up to here' })
    if (position <= this.#checkpoint.position && (wanted === undefined || version > wanted.version))
      this.#changed({ stream, version, position, problem: 'the checkpoint knows no such event at this position: it was put in afterwards' })
    if (position === this.#checkpoint.position && this.#mark.place !== this.#checkpoint.place)
      this.#changed({
        stream,
        version,
        position,
        problem: `events up to position ${position} are not those, or not in the order, that the checkpoint was made of`,
      })
  }

  /** After the last event; `complete` is false where damage kept the rest from being read. */
  finish(complete = true): BrokenLink[] {
    if (!complete) {
      this.#rewritten = true
      const at = this.#mark.position + 1
      const problem = `events from position ${at} on cannot be read, so the checkpoint could not be compared beyond`
      return [...this.#breaks, { stream: '(journal)', version: 0, position: at, problem }]
    }
    for (const { stream, version } of this.#wanted.values()) {
      const reached = this.#reached.get(stream)
      if (reached === undefined)
        this.#report({ stream, version, position: null, problem: `the whole stream is gone: the checkpoint knows ${version} events of it` })
      else if (reached < version)
        this.#report({
          stream,
          version: reached,
          position: null,
          problem: `the stream was cut: the checkpoint knows it up to version ${version}`,
        })
    }
    const { position } = this.#mark
    if (position < this.#checkpoint.position) {
      const problem = `ROLLBACK: the journal ends at position ${position}, the checkpoint of ${this.#checkpoint.at} at ${this.#checkpoint.position}: it was cut, or an older copy was put in its place`
      this.#breaks.unshift({ stream: '(journal)', version: 0, position, problem })
    }
    return this.#breaks
  }

  /** The journal ends before the checkpoint does, and what it has does not contradict it. */
  get isOlder(): boolean {
    return !this.#rewritten && this.#mark.position < this.#checkpoint.position
  }

  #changed(found: BrokenLink): void {
    this.#rewritten = true
    this.#report(found)
  }

  /** Bounded: a journal that differs everywhere is said to differ in the first thousand places. */
  #report(found: BrokenLink): void {
    if (this.#breaks.length < 1000) this.#breaks.push(found)
  }
}
