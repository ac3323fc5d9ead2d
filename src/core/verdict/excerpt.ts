/** Characters that would not show, or would change how the rest shows. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}"\\]|(?! )\p{Zs}/gu

/**
 * A short piece of somebody else's text, quoted, on one line, every character visible.
 * Reasons and reports carry such pieces and nothing longer, so that a reply cannot speak through the complaint about it.
 */
export function excerpt(text: string, limit = 40): string {
  const start = Array.from(text.slice(0, limit * 2))
    .slice(0, limit)
    .join('')
  const shown = start.replace(unseen, (character) => (character === '"' || character === '\\' ? `\\${character}` : escaped(character)))
  return start.length < text.length ? `"${shown}"…` : `"${shown}"`
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
