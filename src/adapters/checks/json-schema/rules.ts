import { canonicalJson } from '../../../contract/canonical.ts'
import { search } from '../pattern.ts'

export type Schema = boolean | { readonly [keyword: string]: unknown }
type SchemaMap = Readonly<Record<string, Schema>>

/** What the argument of a keyword has to be. */
export type Takes =
  | 'anything'
  | 'schema'
  | 'schemas'
  | 'schemas by name'
  | 'schemas by pattern'
  | 'reference'
  | 'type'
  | 'list'
  | 'names'
  | 'names by name'
  | 'pattern'
  | 'count'
  | 'number'
  | 'positive number'
  | 'yes or no'

/** One comparison of a value with a schema. */
export interface Comparison {
  value: unknown
  /** Where the value stands, as a JSON pointer. */
  at: string
  /** The schema that the keyword is part of. */
  schema: { readonly [keyword: string]: unknown }
  /** Complaints of a value about another schema. */
  compare: (schema: Schema, value: unknown, at: string) => string[]
  /** The schema that a reference means. */
  resolve: (reference: string) => Schema
  /** Makes the whole check an error: it cannot be told whether the value holds up. */
  giveUp: (why: string) => void
}

export interface Rule {
  takes: Takes
  check: (argument: never, comparison: Comparison) => string[]
}

function rule<A>(takes: Takes, check: (argument: A, comparison: Comparison) => string[]): Rule {
  return { takes, check }
}
/** A plain condition on values of one kind; it says nothing about others. */
function condition<V, A>(
  takes: Takes,
  applies: (value: unknown) => value is V,
  holds: (value: V, argument: A, comparison: Comparison) => boolean,
  words: (argument: A) => string,
): Rule {
  return rule<A>(takes, (argument, comparison) =>
    !applies(comparison.value) || holds(comparison.value, argument, comparison) ? [] : [`${comparison.at}: ${words(argument)}`],
  )
}
const annotation = rule('anything', () => [])

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isList = (value: unknown): value is unknown[] => Array.isArray(value)
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const anyValue = (_value: unknown): _value is unknown => true

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)
const characters = (text: string): number => [...text].length
const isType = (value: unknown, type: string): boolean => {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  if (type === 'array') return isList(value)
  return type === 'object' ? isObject(value) : typeof value === type
}
const isMultiple = (value: number, of: number): boolean =>
  Math.abs(value / of - Math.round(value / of)) <= 1e-9 * Math.max(1, Math.abs(value / of))

function matches(pattern: string, text: string, { giveUp }: Comparison): boolean {
  const found = search(pattern, text)
  if (found.kind === 'bad_pattern' || found.kind === 'too_costly') giveUp(found.why)
  return found.kind === 'found'
}

/** Properties that `properties` and `patternProperties` of the same schema do not speak of. */
function additional(value: Record<string, unknown>, comparison: Comparison): string[] {
  const named = (comparison.schema.properties ?? {}) as SchemaMap
  const patterns = Object.keys((comparison.schema.patternProperties ?? {}) as SchemaMap)
  return Object.keys(value).filter((key) => !Object.hasOwn(named, key) && !patterns.some((pattern) => matches(pattern, key, comparison)))
}

function each(value: unknown, schema: Schema, comparison: Comparison, keys: readonly (string | number)[]): string[] {
  return keys.flatMap((key) =>
    comparison.compare(schema, (value as never)[key], `${comparison.at}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}

const holds = (schema: Schema, { compare, value, at }: Comparison): boolean => compare(schema, value, at).length === 0

/** Every keyword that a check understands, as JSON Schema 2020-12 has it. `format` is not among them: few enforce it, and a condition that nobody checks would pass for one that holds. */
export const rules: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    ['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'].map((keyword) => [
      keyword,
      annotation,
    ]),
  ),
  $defs: rule('schemas by name', () => []),
  definitions: rule('schemas by name', () => []),
  $ref: rule<string>('reference', (reference, { compare, resolve, value, at }) => compare(resolve(reference), value, at)),

  type: condition<unknown, string | string[]>(
    'type',
    anyValue,
    (value, types) => [types].flat().some((type) => isType(value, type)),
    (types) => `is not ${[types].flat().join(' or ')}`,
  ),
  enum: condition<unknown, unknown[]>(
    'list',
    anyValue,
    (value, allowed) => allowed.some((one) => same(one, value)),
    (allowed) => `is none of ${JSON.stringify(allowed)}`,
  ),
  const: condition<unknown, unknown>('anything', anyValue, same, (wanted) => `is not ${JSON.stringify(wanted)}`),
  allOf: rule<Schema[]>('schemas', (schemas, { compare, value, at }) => schemas.flatMap((schema) => compare(schema, value, at))),
  anyOf: rule<Schema[]>('schemas', (schemas, comparison) =>
    schemas.some((schema) => holds(schema, comparison)) ? [] : [`${comparison.at}: fits none of the schemas of anyOf`],
  ),
  oneOf: rule<Schema[]>('schemas', (schemas, comparison) => {
    const fitting = schemas.filter((schema) => holds(schema, comparison)).length
    return fitting === 1 ? [] : [`${comparison.at}: fits ${fitting} of the schemas of oneOf instead of one`]
  }),
  not: rule<Schema>('schema', (schema, comparison) => (holds(schema, comparison) ? [`${comparison.at}: fits the schema of not`] : [])),
  if: rule<Schema>('schema', (schema, comparison) => {
    const next = comparison.schema[holds(schema, comparison) ? 'then' : 'else'] as Schema | undefined
    return next === undefined ? [] : comparison.compare(next, comparison.value, comparison.at)
  }),
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so, and the table is not awaited
  then: rule('schema', () => []),
  else: rule('schema', () => []),

  minLength: condition<string, number>(
    'count',
    isText,
    (value, least) => characters(value) >= least,
    (least) => `has fewer than ${least} characters`,
  ),
  maxLength: condition<string, number>(
    'count',
    isText,
    (value, most) => characters(value) <= most,
    (most) => `has more than ${most} characters`,
  ),
  pattern: condition<string, string>(
    'pattern',
    isText,
    (value, pattern, comparison) => matches(pattern, value, comparison),
    (pattern) => `does not match ${pattern}`,
  ),
  minimum: condition<number, number>(
    'number',
    isNumber,
    (value, least) => value >= least,
    (least) => `is less than ${least}`,
  ),
  maximum: condition<number, number>(
    'number',
    isNumber,
    (value, most) => value <= most,
    (most) => `is more than ${most}`,
  ),
  exclusiveMinimum: condition<number, number>(
    'number',
    isNumber,
    (value, limit) => value > limit,
    (limit) => `is not more than ${limit}`,
  ),
  exclusiveMaximum: condition<number, number>(
    'number',
    isNumber,
    (value, limit) => value < limit,
    (limit) => `is not less than ${limit}`,
  ),
  multipleOf: condition<number, number>('positive number', isNumber, isMultiple, (of) => `is not a multiple of ${of}`),

  required: rule<string[]>('names', (names, { value, at }) =>
    isObject(value) ? names.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}: ${JSON.stringify(name)} is missing`) : [],
  ),
  dependentRequired: rule<Record<string, string[]>>('names by name', (needs, { value, at }) =>
    !isObject(value)
      ? []
      : Object.entries(needs).flatMap(([name, names]) =>
          Object.hasOwn(value, name)
            ? names
                .filter((needed) => !Object.hasOwn(value, needed))
                .map((needed) => `${at}: ${JSON.stringify(needed)} is missing beside ${JSON.stringify(name)}`)
            : [],
        ),
  ),
  minProperties: condition<Record<string, unknown>, number>(
    'count',
    isObject,
    (value, least) => Object.keys(value).length >= least,
    (least) => `has fewer than ${least} properties`,
  ),
  maxProperties: condition<Record<string, unknown>, number>(
    'count',
    isObject,
    (value, most) => Object.keys(value).length <= most,
    (most) => `has more than ${most} properties`,
  ),
  properties: rule<SchemaMap>('schemas by name', (schemas, comparison) => {
    const { value } = comparison
    return isObject(value)
      ? Object.entries(schemas).flatMap(([name, schema]) => (Object.hasOwn(value, name) ? each(value, schema, comparison, [name]) : []))
      : []
  }),
  patternProperties: rule<SchemaMap>('schemas by pattern', (schemas, comparison) => {
    const { value } = comparison
    if (!isObject(value)) return []
    return Object.entries(schemas).flatMap(([pattern, schema]) =>
      each(
        value,
        schema,
        comparison,
        Object.keys(value).filter((key) => matches(pattern, key, comparison)),
      ),
    )
  }),
  additionalProperties: rule<Schema>('schema', (schema, comparison) =>
    isObject(comparison.value) ? each(comparison.value, schema, comparison, additional(comparison.value, comparison)) : [],
  ),
  propertyNames: rule<Schema>('schema', (schema, { compare, value, at }) =>
    isObject(value) ? Object.keys(value).flatMap((key) => compare(schema, key, `${at}/${key}`)) : [],
  ),

  minItems: condition<unknown[], number>(
    'count',
    isList,
    (value, least) => value.length >= least,
    (least) => `has fewer than ${least} items`,
  ),
  maxItems: condition<unknown[], number>(
    'count',
    isList,
    (value, most) => value.length <= most,
    (most) => `has more than ${most} items`,
  ),
  uniqueItems: condition<unknown[], boolean>(
    'yes or no',
    isList,
    (value, wanted) => !wanted || new Set(value.map(canonicalJson)).size === value.length,
    () => 'has an item twice',
  ),
  prefixItems: rule<Schema[]>('schemas', (schemas, comparison) =>
    isList(comparison.value)
      ? schemas.slice(0, comparison.value.length).flatMap((schema, index) => each(comparison.value, schema, comparison, [index]))
      : [],
  ),
  items: rule<Schema>('schema', (schema, comparison) => {
    const after = ((comparison.schema.prefixItems ?? []) as Schema[]).length
    return isList(comparison.value) ? each(comparison.value, schema, comparison, [...comparison.value.keys()].slice(after)) : []
  }),
  contains: rule<Schema>('schema', (schema, { compare, value, at, schema: around }) => {
    if (!isList(value)) return []
    const fitting = value.filter((item) => compare(schema, item, at).length === 0).length
    const least = (around.minContains as number | undefined) ?? 1
    const most = (around.maxContains as number | undefined) ?? Number.POSITIVE_INFINITY
    return fitting >= least && fitting <= most ? [] : [`${at}: has ${fitting} items that fit contains`]
  }),
  minContains: rule('count', () => []),
  maxContains: rule('count', () => []),
}
