import type { Json } from '../../contract/canonical.ts'
import { marked } from '../../contract/source/shown.ts'

/** What a telling may carry of an event's data. */
const limits = { characters: 1000, members: 50, depth: 6, total: 20_000 }

/** Cut to a number of characters, never through the middle of one; the cut is marked. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const kept = text.slice(0, most - 1)
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`
}

/** Somebody else's text, bounded, with every character that hides or turns text around made visible. */
export function plainText(text: string, most: number): string {
  return cut(marked(cut(text, most * 2)), most)
}

export function plainLine(text: string, most: number): string {
  return cut(
    plainText(text, most * 2)
      .replace(/\s+/g, ' ')
      .trim(),
    most,
  )
}

/** An event's data as receivers get it: the same shape, long texts and lists cut, deep or endless ones left out. */
export function boundedData(value: unknown, room = { left: limits.total }, depth = 0): Json {
  if (typeof value === 'string') {
    const text = plainText(value, Math.max(1, Math.min(limits.characters, room.left)))
    room.left -= text.length
    return text
  }
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (depth >= limits.depth || room.left <= 0) return '…'
  if (Array.isArray(value)) return value.slice(0, limits.members).map((item) => boundedData(item, room, depth + 1))
  const kept: [string, Json][] = []
  for (const [key, member] of Object.entries(value).slice(0, limits.members)) {
    if (member === undefined) continue
    room.left -= key.length
    kept.push([plainLine(key, 100), boundedData(member, room, depth + 1)])
  }
  return Object.fromEntries(kept)
}
