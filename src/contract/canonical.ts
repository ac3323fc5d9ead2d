import { createHash } from 'node:crypto'
import { z } from 'zod'

/** Anything that survives a round trip through JSON. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** A sha256 content digest. The prefix names the algorithm, so that another one can be told apart later. */
export const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'a digest is sha256: followed by 64 hex digits')
export type Digest = z.infer<typeof Digest>

/**
 * One text for one value: keys sorted by code unit, `undefined` members left out, no white space.
 * Two values that mean the same JSON give the same text, so the text can be hashed, compared and stored.
 * Throws on what JSON cannot say (NaN, Infinity, functions, bigint): a silent `null` would let two different values share a digest.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`canonicalJson: ${value} is not a JSON number`)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(',')}]`
  if (typeof value === 'object') {
    const record = value as Record<string, unknown>
    const members: string[] = []
    for (const key of Object.keys(record).sort()) {
      const member = record[key]
      if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`)
    }
    return `{${members.join(',')}}`
  }
  throw new TypeError(`canonicalJson: a ${typeof value} has no JSON form`)
}

/** Hex sha256 of a text or of bytes. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** The digest of a value, by its canonical text. */
export function digestOf(value: unknown): Digest {
  return `sha256:${sha256Hex(canonicalJson(value))}`
}
