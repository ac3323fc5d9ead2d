import { hash } from 'node:crypto'
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
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`canonicalJson: ${value} is not a JSON number`)
      return JSON.stringify(value)
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? listText(value) : recordText(value as Record<string, unknown>)
    default:
      throw new TypeError(`canonicalJson: a ${typeof value} has no JSON form`)
  }
}

/** Joined, so that the text of a long list is one piece and not a tree of as many as it has members. */
function listText(list: readonly unknown[]): string {
  const texts: string[] = []
  for (const item of list) texts.push(item === undefined ? 'null' : canonicalJson(item))
  return `[${texts.join(',')}]`
}

function recordText(record: Record<string, unknown>): string {
  let text = ''
  for (const key of Object.keys(record).sort()) {
    const member = record[key]
    if (member !== undefined) text += `${text === '' ? '{' : ','}${keyText(key)}:${canonicalJson(member)}`
  }
  return text === '' ? '{}' : `${text}}`
}

/** The few hundred keys of our own shapes come again with every event; others find the memory full and cost what they always did. */
const keyTexts = new Map<string, string>()
const maxKeyTexts = 2000
const maxKeyLength = 64

function keyText(key: string): string {
  const known = keyTexts.get(key)
  if (known !== undefined) return known
  const text = JSON.stringify(key)
  if (keyTexts.size < maxKeyTexts && key.length <= maxKeyLength) keyTexts.set(key, text)
  return text
}

/** Hex sha256 of a text or of bytes. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash('sha256', content)
}

/** The digest of a value, by its canonical text. */
export function digestOf(value: unknown): Digest {
  return `sha256:${sha256Hex(canonicalJson(value))}`
}

/** Orders texts by their code units: the same on every machine, and without the tables of languages, whose loading a short command would feel. */
export function textOrder(one: string, other: string): -1 | 0 | 1 {
  return one < other ? -1 : one > other ? 1 : 0
}
