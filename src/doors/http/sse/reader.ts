import type { ServerResponse } from 'node:http'
import type { EventHub, Reader } from './hub.ts'

/** Characters written at once; a single event may be longer. */
const chunkChars = 64 * 1024

/**
 * Writes the stream to one connection, in order and without gaps. It holds no queue: what was not written yet is read when the connection has
 * room, so that a reader who never reads costs one chunk.
 */
export class StreamReader implements Reader {
  readonly #hub: EventHub
  readonly #out: ServerResponse
  #position: number
  #full: number | undefined
  #over = false
  #wake: () => void = () => {}

  constructor(hub: EventHub, out: ServerResponse, position: number) {
    this.#hub = hub
    this.#out = out
    this.#position = position
    out.once('close', () => this.#stop())
    out.once('error', () => this.#stop())
  }

  wake(): void {
    if (this.#full === undefined) this.#wake()
  }

  fullSince(): number | undefined {
    return this.#full
  }

  cut(why: string): void {
    this.#hub.options.log(`a reader of the live stream was cut off: ${why}`)
    this.#out.destroy()
    this.#stop()
  }

  end(): void {
    if (this.#full === undefined) this.#out.end()
    else this.#out.destroy()
    this.#stop()
  }

  /** Until the reader leaves, is cut off, or the hub closes. */
  async run(): Promise<void> {
    const { pingMs } = this.#hub.options
    await this.#write(`retry: 2000\nid: ${this.#position}\n\n`)
    while (!this.#over) {
      const woken = this.#news(pingMs)
      const chunk = await this.#chunk()
      if (chunk !== '') {
        await this.#write(chunk)
        continue
      }
      if ((await woken) === 'late' && !this.#over) await this.#write(': ping\n\n')
    }
    this.#hub.leave(this)
  }

  async #chunk(): Promise<string> {
    let chunk = ''
    for (const { position, text } of await this.#hub.after(this.#position)) {
      if (chunk !== '' && chunk.length + text.length > chunkChars) break
      chunk += text
      this.#position = position
    }
    return chunk
  }

  /** Resolves when there may be something new, or after a while. Asked for before looking, so that nothing is missed in between. */
  #news(pingMs: number): Promise<'news' | 'late'> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve('late'), pingMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve('news')
      }
    })
  }

  /** Writes, and waits until the connection has room again; one that has none for too long is ended. */
  async #write(text: string): Promise<void> {
    this.#wake()
    if (this.#over || this.#out.write(text)) return
    this.#full = this.#hub.head
    await new Promise<void>((resolve) => {
      const stalled = setTimeout(() => this.cut('it took nothing for too long'), this.#hub.options.stallMs)
      const goOn = () => {
        clearTimeout(stalled)
        this.#full = undefined
        resolve()
      }
      this.#wake = goOn
      this.#out.once('drain', goOn)
    })
  }

  #stop(): void {
    if (this.#over) return
    this.#over = true
    this.#full = undefined
    this.#wake()
    this.#hub.leave(this)
  }
}
