import { RE2JS } from 're2js'

/** Most steps that one search may take: size of the compiled pattern times length of the text. About two seconds. */
const mostSteps = 50_000_000

export type Search = { kind: 'found' } | { kind: 'not_found' } | { kind: 'bad_pattern'; why: string } | { kind: 'too_costly'; why: string }

/** A pattern in RE2 syntax, or why it is none: no look-around and no back references, so that time grows with the text only. */
export function compilePattern(source: string): { pattern: RE2JS } | { why: string } {
  try {
    return { pattern: RE2JS.compile(source) }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}

/** Whether the pattern matches somewhere in the text. What would take too long is refused before it begins. */
export function search(source: string, text: string): Search {
  const compiled = compilePattern(source)
  if ('why' in compiled) return { kind: 'bad_pattern', why: compiled.why }
  const steps = compiled.pattern.programSize() * text.length
  if (steps > mostSteps) {
    return {
      kind: 'too_costly',
      why: `the pattern on a text of ${text.length} characters takes up to ${steps} steps; at most ${mostSteps} are allowed`,
    }
  }
  return compiled.pattern.matcher(text).find() ? { kind: 'found' } : { kind: 'not_found' }
}
