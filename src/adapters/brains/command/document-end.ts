/** Where the object or list that begins at `start` closes, before `limit`; and whether it is an object with a `summary` of its own. */
export function documentEnd(text: string, start: number, limit: number): { end: number | undefined; hasSummary: boolean } {
  const isObject = text[start] === '{'
  let depth = 0
  let hasSummary = false
  for (let at = start; at < limit; at += 1) {
    switch (text[at]) {
      case '{':
      case '[':
        depth += 1
        break
      case '}':
      case ']':
        depth -= 1
        if (depth === 0) return { end: at + 1, hasSummary }
        break
      case "'":
        // No JSON, but somebody's attempt at a case.
        hasSummary ||= isObject && depth === 1 && /^'summary'\s*:/.test(text.slice(at, at + 100))
        break
      case '"': {
        const end = stringEnd(text, at, limit)
        hasSummary ||= isObject && depth === 1 && text.slice(at, end) === '"summary"' && /^\s*:/.test(text.slice(end, end + 100))
        at = end - 1
        break
      }
    }
  }
  return { end: undefined, hasSummary }
}

/** Index after the closing quote; one that is never closed ends with the text. */
function stringEnd(text: string, start: number, limit: number): number {
  for (let at = start + 1; at < limit; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at + 1
  }
  return limit
}
