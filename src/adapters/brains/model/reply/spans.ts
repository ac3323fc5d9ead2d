/** A value inside a JSON text: where it begins and where it ends. */
export interface Span {
  start: number
  end: number
}

/**
 * The members of the object at `at`, in order, repeated keys included; empty where there is no object. The text has to be valid JSON already:
 * this finds out where things stand in it, which a parsed value can no longer tell.
 */
export function membersAt(text: string, at: number): { key: string; value: Span }[] {
  const found: { key: string; value: Span }[] = []
  let cursor = skipBlank(text, at)
  if (text[cursor] !== '{') return found
  cursor = skipBlank(text, cursor + 1)
  while (cursor < text.length && text[cursor] !== '}') {
    const keyEnd = endOfString(text, cursor)
    const key = JSON.parse(text.slice(cursor, keyEnd)) as string
    const value = valueAt(text, skipBlank(text, keyEnd) + 1)
    found.push({ key, value })
    cursor = afterComma(text, value.end)
  }
  return found
}

/** The items of the list at `at`; empty where there is no list. */
export function itemsAt(text: string, at: number): Span[] {
  const found: Span[] = []
  let cursor = skipBlank(text, at)
  if (text[cursor] !== '[') return found
  cursor = skipBlank(text, cursor + 1)
  while (cursor < text.length && text[cursor] !== ']') {
    const value = valueAt(text, cursor)
    found.push(value)
    cursor = afterComma(text, value.end)
  }
  return found
}

/** The value of a member. Undefined where it is missing, and where it is there twice: then nobody can tell which one is meant. */
export function memberAt(text: string, at: number, key: string): Span | undefined {
  const found = membersAt(text, at).filter((member) => member.key === key)
  return found.length === 1 ? found[0]?.value : undefined
}

/** The text of a string value, decoded; undefined for a value of another type. */
export function stringAt(text: string, span: Span | undefined): string | undefined {
  if (span === undefined || text[span.start] !== '"') return undefined
  return JSON.parse(text.slice(span.start, span.end)) as string
}

function valueAt(text: string, at: number): Span {
  const start = skipBlank(text, at)
  const first = text[start]
  if (first === '"') return { start, end: endOfString(text, start) }
  if (first === '{' || first === '[') return { start, end: endOfBrackets(text, start) }
  let end = start
  while (end < text.length && !',]} \t\r\n'.includes(text[end] as string)) end += 1
  return { start, end }
}

/** Counts brackets instead of descending, so that no depth of nesting is too deep. */
function endOfBrackets(text: string, start: number): number {
  let depth = 0
  let cursor = start
  while (cursor < text.length) {
    const character = text[cursor]
    if (character === '"') {
      cursor = endOfString(text, cursor)
      continue
    }
    if (character === '{' || character === '[') depth += 1
    if (character === '}' || character === ']') depth -= 1
    cursor += 1
    if (depth === 0) return cursor
  }
  return cursor
}

/** Index after the closing quote. */
function endOfString(text: string, start: number): number {
  let cursor = start + 1
  while (cursor < text.length && text[cursor] !== '"') cursor += text[cursor] === '\\' ? 2 : 1
  return cursor + 1
}

function afterComma(text: string, at: number): number {
  const cursor = skipBlank(text, at)
  return text[cursor] === ',' ? skipBlank(text, cursor + 1) : cursor
}

function skipBlank(text: string, at: number): number {
  let cursor = at
  while (text[cursor] === ' ' || text[cursor] === '\n' || text[cursor] === '\r' || text[cursor] === '\t') cursor += 1
  return cursor
}
