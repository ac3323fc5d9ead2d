import { oneLine } from '../output.ts'

/** Rows under headings; columns as wide as their content, the last one takes what is left of the width and is cut there. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const cells = [headings, ...rows].map((row) => row.map((cell) => oneLine(cell, 1000)))
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => displayWidth(row[column] ?? ''))))
  const lines = cells.map((row) => {
    let line = ''
    for (const [column, cell] of row.entries()) {
      const last = column === row.length - 1
      line += last ? cell : `${cell}${' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell)))}  `
    }
    return cut(line.trimEnd(), width)
  })
  return lines.join('\n')
}

/** Columns that a text takes on a terminal; wide scripts take two each. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text)
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}]/u.test(
        character,
      )
        ? 2
        : 1
  return width
}

/** Text broken at spaces to a width; its own indentation stays, further lines get one of their own. */
export function wrap(text: string, width: number, indent = 0): string {
  const lines: string[] = []
  let line = /^ */.exec(text)?.[0] ?? ''
  for (const word of text.trimStart().split(' ')) {
    const longer = line.trim() === '' ? `${line}${word}` : `${line} ${word}`
    if (line.trim() !== '' && displayWidth(longer) > width) {
      lines.push(line)
      line = `${' '.repeat(indent)}${word}`
    } else line = longer
  }
  return [...lines, line].join('\n')
}

export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let kept = ''
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) break
    kept += character
  }
  return `${kept}…`
}
