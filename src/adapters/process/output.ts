/**
 * Keeps the beginning and the end of what a process prints and counts the rest, in memory that does not grow past the limit:
 * the process may go on printing for as long as it likes.
 */
export class CappedOutput {
  readonly #limit: number
  readonly #headLimit: number
  readonly #tailLimit: number
  #head = Buffer.alloc(0)
  #headLength = 0
  /** A ring: the oldest byte of a full one is at `#tailAt`. */
  #tail: Buffer | undefined
  #tailAt = 0
  #total = 0

  constructor(limit: number) {
    this.#limit = limit
    this.#headLimit = Math.ceil(limit / 2)
    this.#tailLimit = limit - this.#headLimit
  }

  /** Whether something was left out. */
  get cut(): boolean {
    return this.#total > this.#limit
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length
    const toHead = chunk.subarray(0, this.#headLimit - this.#headLength)
    if (toHead.length > 0) this.#appendHead(toHead)
    const rest = chunk.subarray(toHead.length)
    if (rest.length > 0 && this.#tailLimit > 0) this.#appendTail(rest.subarray(-this.#tailLimit))
  }

  /** The text, with a line in place of what was left out. A character that the cut went through is left out whole. */
  text(): string {
    const head = this.#head.subarray(0, this.#headLength)
    const tail = this.#tailBytes()
    if (!this.cut) return Buffer.concat([head, tail]).toString('utf8')
    const first = head.subarray(0, head.length - incompleteEnd(head))
    const last = tail.subarray(continuationStart(tail))
    const leftOut = this.#total - first.length - last.length
    return `${first.toString('utf8')}\n[… ${leftOut} bytes left out here; at most ${this.#limit} are kept …]\n${last.toString('utf8')}`
  }

  #appendHead(bytes: Buffer): void {
    const needed = this.#headLength + bytes.length
    if (needed > this.#head.length) {
      const grown = Buffer.alloc(Math.min(this.#headLimit, Math.max(needed, this.#head.length * 2, 4096)))
      this.#head.copy(grown, 0, 0, this.#headLength)
      this.#head = grown
    }
    bytes.copy(this.#head, this.#headLength)
    this.#headLength = needed
  }

  #appendTail(bytes: Buffer): void {
    this.#tail ??= Buffer.alloc(this.#tailLimit)
    const untilEnd = bytes.subarray(0, this.#tailLimit - this.#tailAt)
    untilEnd.copy(this.#tail, this.#tailAt)
    bytes.copy(this.#tail, 0, untilEnd.length)
    this.#tailAt = (this.#tailAt + bytes.length) % this.#tailLimit
  }

  #tailBytes(): Buffer {
    if (this.#tail === undefined) return Buffer.alloc(0)
    if (this.#total - this.#headLength < this.#tailLimit) return this.#tail.subarray(0, this.#tailAt)
    return Buffer.concat([this.#tail.subarray(this.#tailAt), this.#tail.subarray(0, this.#tailAt)])
  }
}

/** Number of bytes at the end that begin a UTF-8 character without finishing it. */
function incompleteEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/** Number of bytes at the start that belong to a character begun before them. */
function continuationStart(bytes: Buffer): number {
  let count = 0
  while (count < Math.min(3, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++
  return count
}
