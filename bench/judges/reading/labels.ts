/**
 * How the recorded formats say what Assay's text judges say with `SCORE: n`. A table names a format's label and values; translating a reply
 * puts our label and a number in their place, for every occurrence, so that the reader's own rules decide: the only such line, on a line of
 * its own, outside quotes and fences. Nothing is looked for beyond the label, and no occurrence is dropped.
 */
export interface LabelTable {
  /** The reply in the words of a text judge. */
  translate(text: string): string
  /** What a number read from the translated reply means. */
  meaning: ReadonlyMap<number, string>
}

/** A number that no text judge may give: a value outside the format's own range stays unreadable. */
const outOfRange = 999

const numbers = (most: number) => new Map(Array.from({ length: most }, (_, index) => [index + 1, String(index + 1)]))

/** Where another label is in force, the word score is a word like others. */
const withoutScores = (text: string) => text.replace(/score/gi, 'mark')

/** The label that opens the last sentence of a reply gets a line of its own. */
const lastOnItsOwnLine = (text: string, label: string) =>
  text.replace(new RegExp(`(?<=[.!?)”"]) +((?:\\d\\. )?\\**${label}\\**:[^\\n.!?]{1,20})\\s*$`, 'i'), '\n$1')

function status(text: string): string {
  return lastOnItsOwnLine(withoutScores(text), 'Status')
    .replace(/\bstatus\b/gi, 'SCORE')
    .replace(/(SCORE[*_`]{0,3}:[*_`]{0,3} {0,3})["“”]?(success|failure)["“”]?(?![a-z])/gi, (_, label: string, value: string) => {
      return `${label}${value.toLowerCase() === 'success' ? 2 : 1}`
    })
}

/** Numbered, in bold, as a heading; the number beside the label or alone on the next line. */
function score(text: string): string {
  return lastOnItsOwnLine(text, 'Score')
    .replace(/^ {0,3}\d\. (?=[*_]{0,3}Score)/gim, '')
    .replace(/^(#{1,6} |[*_]{2})Score:?[*_]{0,2}:?[ \t]*\n+[ \t]*([*_]{0,2}\d[*_]{0,2})[ \t]*$/gim, 'SCORE: $2')
    .replace(/(Score[*_`]{0,3}:[*_`]{0,3} {0,3}[*_`]{0,3})(\d+(?:\.\d+)?)/gi, (_, label: string, value: string) => {
      return `${label}${/^[1-5]$/.test(value) ? value : outOfRange}`
    })
}

function rating(text: string): string {
  return withoutScores(text).replace(/\[\[([^\]]{0,20})\]\]/g, (_, value: string) => {
    return `\nSCORE: ${/^(?:[1-9]|10)$/.test(value) ? value : outOfRange}\n`
  })
}

function bareLabel(text: string): string {
  return withoutScores(text).replace(/^[*_`]{0,3}([12])[*_`]{0,3}[ \t]*$/gm, 'SCORE: $1')
}

function tag(text: string): string {
  return withoutScores(text).replace(/<(UN)?SATISFIED>/gi, (_, not?: string) => `\nSCORE: ${not === undefined ? 2 : 1}\n`)
}

const opening = '(?:Therefore|Thus|Hence|So|Overall)?,? ?'
const sentence = new RegExp(`(?<=^|[.!?][ \\n]|\\n)${opening}Output \\(([ab])\\) is better\\.?(?=\\s|$)`, 'gi')

/**
 * Prose that ends in a sentence of its own naming the better output, or is nothing but its name. The same sentence anywhere else is a score
 * out of place. A clause inside another sentence is argument where it is for the same output, and a second score where it is for the other.
 */
function pairwise(text: string): string {
  const numberOf = (letter = '') => (letter.toLowerCase() === 'a' ? 1 : 2)
  const told = withoutScores(text).trimEnd()
  const name = /^\s*Output \(([ab])\)\.?$/i.exec(told)
  if (name) return `SCORE: ${numberOf(name[1])}`
  const last = [...told.matchAll(sentence)].at(-1)
  const ending = last && last.index + last[0].length === told.length ? last : undefined
  const before = told.slice(0, ending?.index)
  const argued = before
    .replace(sentence, (_, letter: string) => `score ${numberOf(letter)}`)
    .replace(/Output \(([ab])\) is (?:the )?better/gi, (clause, letter: string) => {
      return numberOf(letter) === numberOf(ending?.[1]) ? clause : `score ${numberOf(letter)}`
    })
  return ending ? `${argued}\nSCORE: ${numberOf(ending[1])}` : argued
}

const pair = (first: string, second: string) =>
  new Map([
    [1, first],
    [2, second],
  ])

export const labelTables: Readonly<Record<string, LabelTable>> = {
  'thoughts-status': { translate: status, meaning: pair('failure', 'success') },
  'reasoning-score-1-5': { translate: score, meaning: numbers(5) },
  'mt-bench-[[N]]-1-10': { translate: rating, meaning: numbers(10) },
  'bare-label-1-2': { translate: bareLabel, meaning: numbers(2) },
  'angle-tag': { translate: tag, meaning: pair('UNSATISFIED', 'SATISFIED') },
  'pairwise-output-a-b': { translate: pairwise, meaning: pair('a', 'b') },
}
