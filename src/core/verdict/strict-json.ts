import type { Json } from '../../contract/canonical.ts'
import { excerpt } from './excerpt.ts'

/** Longest document that is read at all, in UTF-16 code units. */
export const maxDocumentLength = 1024 * 1024
/** Deepest nesting of objects and lists. A verdict needs four levels. */
export const maxDocumentDepth = 32
/** Most texts, numbers, objects and lists in one document, so that no reader behind this one is kept busy. */
export const maxDocumentValues = 20_000

export type StrictJson = { ok: true; value: Json } | { ok: false; reason: string }

/** Keys that reach into an object's prototype when somebody copies the value carelessly. */
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads exactly one JSON document. Refuses what JSON.parse lets pass although two readers may understand it differently:
 * repeated keys, prototype keys, numbers that do not survive reading, endless nesting, broken Unicode.
 */
export function parseStrictJson(text: string): StrictJson {
  if (text.length > maxDocumentLength) return refuse(`the document is longer than ${maxDocumentLength} characters`)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (error) {
    return refuse(`not one valid JSON document${placeOf(error, text)}`)
  }
  const flaw = flawIn(text)
  return flaw === undefined ? { ok: true, value } : refuse(flaw)
}

function refuse(reason: string): StrictJson {
  return { ok: false, reason }
}

/** Where the parser stopped, as far as it says so. */
function placeOf(error: unknown, text: string): string {
  if (text.trim() === '') return ': it is empty'
  const message = error instanceof Error ? error.message : ''
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position !== undefined)
    return `: unexpected text at character ${position}: ${excerpt(text.slice(Number(position), Number(position) + 100))}`
  return message.includes('end of JSON input') ? ': it ends too early' : `: it begins with ${excerpt(text)}`
}

/**
 * Walks the tokens of a document that is known to be valid JSON. `keys` has one entry per open bracket:
 * the keys seen so far, of which a list has none.
 */
function flawIn(text: string): string | undefined {
  const keys: Set<string>[] = []
  let values = 0
  let at = 0
  while (at < text.length) {
    const character = text[at] as string
    if (/[[{"\d-]/.test(character)) values += 1
    if (values > maxDocumentValues) return `more than ${maxDocumentValues} values`
    if (character === '{' || character === '[') {
      if (keys.length === maxDocumentDepth) return `nested deeper than ${maxDocumentDepth} levels`
      keys.push(new Set())
      at += 1
    } else if (character === '}' || character === ']') {
      keys.pop()
      at += 1
    } else if (character === '"') {
      const end = endOfString(text, at)
      const flaw = flawInString(text.slice(at, end), isKey(text, end) ? keys.at(-1) : undefined)
      if (flaw !== undefined) return flaw
      at = end
    } else if (/[\d-]/.test(character)) {
      const literal = (/[-+.\deE]+/y.exec(text.slice(at, at + 400)) as RegExpExecArray)[0]
      if (!isPlainNumber(literal)) return `the number ${excerpt(literal)} is not written plainly: no exponent, at most 15 digits`
      at += literal.length
    } else at += 1
  }
  return undefined
}

/** Index after the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** In valid JSON only a key is followed by a colon. */
function isKey(text: string, end: number): boolean {
  let at = end
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1
  return text[at] === ':'
}

function flawInString(literal: string, keys: Set<string> | undefined): string | undefined {
  const decoded = JSON.parse(literal) as string
  if (!decoded.isWellFormed()) return `the text ${excerpt(decoded)} is not well-formed Unicode`
  if (keys === undefined) return undefined
  if (keys.has(decoded)) return `the key ${excerpt(decoded)} appears twice in one object`
  if (forbiddenKeys.has(decoded)) return `the key ${excerpt(decoded)} is not allowed`
  keys.add(decoded)
  return undefined
}

/** Up to 15 digits a decimal and the number read from it are one to one; beyond that 4.99999999999999999 would read as 5. */
function isPlainNumber(literal: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(literal) && literal.replace(/\D/g, '').length <= 15
}
