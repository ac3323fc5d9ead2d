import { type Comparison, rules, type Schema } from './rules.ts'
import { vetSchema } from './vet.ts'

const deepestData = 200
const deepestComparison = 1_000
const mostComparisons = 1_000_000
const mostComplaints = 20

/** Compares JSON text with a schema: what does not hold up, or why that cannot be told. */
export function checkJson(schema: Schema, text: string): { complaints: string[] } | { why: string } {
  const wrong = vetSchema(schema)
  if (wrong !== undefined) return { why: wrong }
  if (depthOf(text) > deepestData) return { complaints: [`is JSON nested more than ${deepestData} levels deep`] }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { complaints: [`is not JSON: ${(error as SyntaxError).message}`] }
  }
  return compareWith(schema, value)
}

function compareWith(root: Schema, value: unknown): { complaints: string[] } | { why: string } {
  let why: string | undefined
  let depth = 0
  let comparisons = 0
  const giveUp = (reason: string): void => {
    why ??= reason
  }
  const resolve = (reference: string): Schema => {
    const target = follow(root, reference)
    if (target === undefined) giveUp(`the schema refers to ${reference}, which is no schema in it`)
    return target ?? false
  }
  const compare = (schema: Schema, inner: unknown, at: string): string[] => {
    if (++comparisons > mostComparisons || depth >= deepestComparison) giveUp('the schema takes too long: it refers to itself too often')
    if (why !== undefined || schema === true) return []
    if (schema === false) return [`${at}: is not allowed`]
    const comparison: Comparison = { value: inner, at, schema, compare, resolve, giveUp }
    depth += 1
    const complaints = Object.entries(schema).flatMap(([keyword, argument]) => rules[keyword]?.check(argument as never, comparison) ?? [])
    depth -= 1
    return complaints
  }
  const complaints = compare(root, value, '')
  if (why !== undefined) return { why }
  const more = complaints.length - mostComplaints
  const listed = complaints.slice(0, mostComplaints).map((complaint) => (complaint.startsWith(':') ? `(root)${complaint}` : complaint))
  return { complaints: more > 0 ? [...listed, `and ${more} more`] : listed }
}

/** What a JSON pointer in a reference leads to, where that is a schema. */
function follow(root: Schema, reference: string): Schema | undefined {
  let target: unknown = root
  for (const step of reference.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) return undefined
    target = (target as Record<string, unknown>)[key]
  }
  const isSchema = typeof target === 'boolean' || (typeof target === 'object' && target !== null && !Array.isArray(target))
  return isSchema && vetSchema(target as Schema) === undefined ? (target as Schema) : undefined
}

/** How deeply brackets are nested, found without nesting calls. Strings are skipped; where the text is no JSON the answer does not matter. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (inString) {
      if (character === '\\') at += 1
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth)
    else if (character === '}' || character === ']') depth -= 1
  }
  return deepest
}
