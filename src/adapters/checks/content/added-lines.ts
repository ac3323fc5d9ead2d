import { diffArrays } from 'diff'

/** Largest texts, in lines, and most lines removed and added, that are compared place by place; about a fifth of a second at worst. */
const bounds = { lines: 50_000, edits: 1_000 }

export interface AddedLine {
  /** Counted from 1. */
  number: number
  text: string
}

/** Lines that the text has and its base has not. How lines end does not matter. */
export function addedLines(base: string | undefined, now: string): AddedLine[] {
  const after = linesOf(now)
  if (base === undefined) return after.map((text, index) => ({ number: index + 1, text }))
  const before = linesOf(base)
  return byPlace(before, after) ?? byCount(before, after)
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/)
}

function byPlace(before: string[], after: string[]): AddedLine[] | undefined {
  if (before.length > bounds.lines || after.length > bounds.lines) return undefined
  const changes = diffArrays(before, after, { maxEditLength: bounds.edits })
  if (changes === undefined) return undefined
  const added: AddedLine[] = []
  let number = 1
  for (const { added: isNew, removed, value } of changes) {
    if (removed) continue
    for (const text of value) {
      if (isNew) added.push({ number, text })
      number++
    }
  }
  return added
}

/** For texts too large or too different: of equal lines, those beyond the base's number are added. */
function byCount(before: string[], after: string[]): AddedLine[] {
  const left = new Map<string, number>()
  for (const line of before) left.set(line, (left.get(line) ?? 0) + 1)
  return after.flatMap((text, index) => {
    const known = left.get(text) ?? 0
    left.set(text, known - 1)
    return known > 0 ? [] : [{ number: index + 1, text }]
  })
}
