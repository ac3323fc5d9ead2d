import { RE2JS } from 're2js'

const longestPattern = 500
/** Instructions of the largest pattern that is run. */
const largestProgram = 5_000

/** A pattern whose time grows with the text only, or why it is none. */
export type Pattern = { finds(text: string): boolean; cost: number } | { why: string }

/** A pattern in RE2 syntax: no look-around and no back references. */
export function compilePattern(source: string): Pattern {
  if (source.length > longestPattern) return { why: `the pattern is longer than ${longestPattern} characters` }
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(source)
  } catch (error) {
    return { why: `not a pattern: ${error instanceof Error ? error.message : String(error)}` }
  }
  const cost = compiled.programSize()
  if (cost > largestProgram) return { why: `the pattern is too large: ${cost} instructions; at most ${largestProgram} are allowed` }
  return { finds: (text) => compiled.matcher(text).find(), cost }
}

/** A glob over whole paths: `*` within a folder, `**` across folders, `?` one character; everything else stands for itself. */
export function compileGlob(glob: string): Pattern {
  const words = glob.match(/\*\*\/|\*\*|\*|\?|[^*?]+/g) ?? []
  const source = words.map((word) => wildcards[word] ?? RE2JS.quote(word)).join('')
  return compilePattern(`^(?:${source})$`)
}

const wildcards: Record<string, string> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' }
