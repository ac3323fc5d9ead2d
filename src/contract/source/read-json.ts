import { deepest } from './read-node.ts'

/**
 * The value of a text that is faultless JSON, a hundred times faster than by way of YAML; for missions that programs write.
 * `undefined` where there is any doubt (a fault, a key twice, `__proto__`, too deep): then the careful way tells what is wrong and where.
 */
export function readCleanJson(text: string): { value: unknown } | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  const value = parsed(text)
  const kept = value === undefined ? undefined : countKeys(value, 0)
  // JSON.parse keeps the last of two equal keys; then fewer are left than were written.
  return kept !== undefined && kept === writtenKeys(text) ? { value } : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Keys of all mappings, or `undefined` where one of them, or the depth, is not allowed. */
function countKeys(value: unknown, depth: number): number | undefined {
  if (typeof value !== 'object' || value === null) return 0
  if (depth > deepest || Object.hasOwn(value, '__proto__')) return undefined
  let count = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const child of Object.values(value)) {
    const inner = countKeys(child, depth + 1)
    if (inner === undefined) return undefined
    count += inner
  }
  return count
}

/** Texts followed by a colon; the text is known to be JSON. */
function writtenKeys(text: string): number {
  let count = 0
  for (const match of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g)) if (match[1] !== undefined) count++
  return count
}
