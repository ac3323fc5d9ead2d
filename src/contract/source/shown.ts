const longest = 80

/** Text in which every control, invisible, bidirectional or unpaired character is written out, so that no value can forge a line of output. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}

/** Somebody else's text as it may be shown: lines and tabs stay, every other control, invisible or bidirectional character is marked, e.g. `⟦U+202E⟧`. */
export function marked(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === '\n' || character === '\t') return character
    return `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`
  })
}

/** Visible text, cut to a line's worth; the cut is marked. */
export function excerpt(text: string): string {
  const characters = [...text.slice(0, longest * 2)]
  const whole = characters.length <= longest && text.length <= longest * 2
  return whole ? visible(text) : `${visible(characters.slice(0, longest).join(''))}…`
}

/** A name in a message. */
export function named(name: string): string {
  return `\`${excerpt(name)}\``
}

/** A value in a message: scalars as they are, collections by what they are. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return `"${excerpt(value)}"`
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'a mapping'
  return excerpt(String(value))
}
