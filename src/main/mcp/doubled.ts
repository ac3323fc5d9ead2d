import { Transform, type TransformCallback } from 'node:stream'
import { readCleanJson } from '../../contract/source/read-json.ts'

/** The answer to a message that says two things under one name, or is no JSON. */
export interface DoubledKey {
  jsonrpc: '2.0'
  id: string | number | null
  error: { code: -32600 | -32700; message: string }
}

const message = 'a key appears twice in one object, is called __proto__, or lies too deep: nobody could tell what was said'

/** Undefined where every key is there once, and for what is no JSON: that is another answer. */
export function doubledKey(text: string): DoubledKey | undefined {
  const value = parsed(text)
  if (value === undefined || readCleanJson(`{"message":${text}}`)) return undefined
  const { id } = (value ?? {}) as { id?: unknown }
  return { jsonrpc: '2.0', id: typeof id === 'string' || typeof id === 'number' ? id : null, error: { code: -32600, message } }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Lets messages through, a line each, but for those in which a key appears twice and what is no JSON, which are answered. What is longer than `longest` goes through as it comes: its reader ends it. */
export class PlainMessages extends Transform {
  readonly #longest: number
  readonly #refuse: (answer: DoubledKey) => void
  #line: Buffer[] = []
  #size = 0

  constructor(longest: number, refuse: (answer: DoubledKey) => void) {
    super()
    this.#longest = longest
    this.#refuse = refuse
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      this.#line.push(rest.subarray(0, end + 1))
      rest = rest.subarray(end + 1)
      this.#pass()
    }
    if (rest.length > 0) {
      this.#line.push(rest)
      this.#size += rest.length
    }
    if (this.#size > this.#longest) this.#let(Buffer.concat(this.#line))
    done()
  }

  override _flush(done: TransformCallback): void {
    this.#let(Buffer.concat(this.#line))
    done()
  }

  #pass(): void {
    const line = Buffer.concat(this.#line)
    const text = line.toString('utf8')
    if (text.trim() !== '' && parsed(text) === undefined) {
      this.#let(Buffer.alloc(0))
      return this.#refuse({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error: a message is one line of JSON' } })
    }
    const doubled = doubledKey(text)
    if (!doubled) return this.#let(line)
    this.#let(Buffer.alloc(0))
    // Who sends a notification waits for no answer.
    if (doubled.id !== null) this.#refuse(doubled)
  }

  #let(bytes: Buffer): void {
    this.#line = []
    this.#size = 0
    if (bytes.length > 0) this.push(bytes)
  }
}
