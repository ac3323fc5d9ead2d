import type { StoredEvent } from '../../../contract/events/envelope.ts'

/** An event as it goes over the wire, made once for all readers. */
export interface Frame {
  position: number
  text: string
}

export function frameOf(event: StoredEvent): Frame {
  return { position: event.position, text: `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n` }
}

/** The latest frames, bounded by number and by size: readers who keep up cost no read of the journal. */
export class RecentFrames {
  readonly #most: number
  readonly #mostChars: number
  #frames: Frame[] = []
  #chars = 0

  constructor(most: number, mostChars: number) {
    this.#most = most
    this.#mostChars = mostChars
  }

  add(frame: Frame): void {
    this.#frames.push(frame)
    this.#chars += frame.text.length
    let gone = 0
    while (this.#frames.length - gone > this.#most || (this.#chars > this.#mostChars && gone < this.#frames.length)) {
      this.#chars -= this.#frames[gone]?.text.length ?? 0
      gone += 1
    }
    if (gone > 0) this.#frames = this.#frames.slice(gone)
  }

  clear(): void {
    this.#frames = []
    this.#chars = 0
  }

  /** Frames after a position, one after the other without a gap; undefined where the oldest of them is gone. */
  after(position: number): readonly Frame[] | undefined {
    const [first] = this.#frames
    if (first === undefined || first.position > position + 1) return undefined
    return this.#frames.slice(Math.max(0, position + 1 - first.position))
  }
}
