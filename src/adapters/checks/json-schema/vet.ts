import { compilePattern } from '../pattern.ts'
import { rules, type Schema, type Takes } from './rules.ts'

const typeNames = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isMapping = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isPattern = (value: unknown): boolean => isText(value) && 'pattern' in compilePattern(value)
const isSchema = (value: unknown): boolean => typeof value === 'boolean' || isMapping(value)

const fits: Record<Takes, (argument: unknown) => boolean> = {
  anything: () => true,
  schema: isSchema,
  schemas: (argument) => Array.isArray(argument) && argument.length > 0 && argument.every(isSchema),
  'schemas by name': (argument) => isMapping(argument) && Object.values(argument).every(isSchema),
  'schemas by pattern': (argument) =>
    isMapping(argument) && Object.values(argument).every(isSchema) && Object.keys(argument).every(isPattern),
  reference: (argument) => isText(argument) && /^#(\/[^%]*)?$/.test(argument),
  type: (argument) => [argument].flat().length > 0 && [argument].flat().every((name) => typeNames.includes(name as string)),
  list: Array.isArray,
  names: isTexts,
  'names by name': (argument) => isMapping(argument) && Object.values(argument).every(isTexts),
  pattern: isPattern,
  count: (argument) => Number.isSafeInteger(argument) && (argument as number) >= 0,
  number: (argument) => typeof argument === 'number',
  'positive number': (argument) => typeof argument === 'number' && argument > 0,
  'yes or no': (argument) => typeof argument === 'boolean',
}

/** What is wrong with a schema itself: a keyword that nobody would check, or one with an argument that means nothing. */
export function vetSchema(schema: Schema, at = '#'): string | undefined {
  if (typeof schema === 'boolean') return undefined
  for (const [keyword, argument] of Object.entries(schema)) {
    const rule = Object.hasOwn(rules, keyword) ? rules[keyword] : undefined
    if (rule === undefined) return `the schema uses \`${keyword}\` at ${at}, which is not supported`
    if (!fits[rule.takes](argument)) return `\`${keyword}\` at ${at} of the schema takes ${rule.takes}`
    for (const [step, inner] of innerSchemas(rule.takes, argument)) {
      const wrong = vetSchema(inner, `${at}/${keyword}${step}`)
      if (wrong !== undefined) return wrong
    }
  }
  return undefined
}

function innerSchemas(takes: Takes, argument: unknown): [step: string, schema: Schema][] {
  if (takes === 'schema') return [['', argument as Schema]]
  if (takes !== 'schemas' && takes !== 'schemas by name' && takes !== 'schemas by pattern') return []
  return Object.entries(argument as Record<string, Schema>).map(([name, schema]) => [`/${name}`, schema])
}
