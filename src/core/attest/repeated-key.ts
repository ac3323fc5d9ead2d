/** Tokens of a JSON document that say where objects and lists begin and end, and which texts are keys. */
const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/gs

/**
 * A key that some object of a document has twice, which two readers may understand differently; undefined where none has. The document is known to
 * be valid JSON.
 */
export function repeatedKey(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const match of text.matchAll(token)) {
    const [found] = match
    if (found === '{' || found === '[') open.push(new Set())
    else if (found === '}' || found === ']') open.pop()
    else if (match[1] !== undefined) {
      const key = JSON.parse(found.slice(0, found.length - match[1].length)) as string
      const keys = open.at(-1)
      if (keys?.has(key)) return key
      keys?.add(key)
    }
  }
  return undefined
}
