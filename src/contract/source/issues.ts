import type { z } from 'zod'
import type { Result } from '../errors.ts'
import { type Finding, formatPath, type Path } from './problem.ts'
import { named, shown } from './shown.ts'
import { suggest } from './suggest.ts'

type Issue = z.core.$ZodIssue

/** What the words about one value need to know. */
interface Subject {
  path: Path
  value: unknown
  /** Known keys of the mapping that an issue of unknown keys is about. */
  known: WeakMap<object, string[]>
}

const expectations: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
}

/** Parses with a schema; every issue comes back as a finding in plain words, with the value that was found. */
export function parseWith<S extends z.ZodType>(schema: S, value: unknown): Result<z.output<S>, Finding[]> {
  const known: Subject['known'] = new WeakMap()
  const parsed = schema.safeParse(value, {
    // Messages written in a schema win over this one; an empty message therefore means: say it in the words below.
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') known.set(issue.keys, keysOf(issue.inst))
      return ''
    },
  })
  if (parsed.success) return { ok: true, value: parsed.data }
  return { ok: false, error: parsed.error.issues.flatMap((issue) => explain(issue, { path: [], value, known })) }
}

function keysOf(schema: unknown): string[] {
  const definition = (schema as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def
  return Object.keys(definition?.shape ?? {})
}

function explain(issue: Issue, above: Subject): Finding[] {
  const path = [...above.path, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))]
  const value = issue.path.reduce<unknown>(
    (inner, step) => (isMapping(inner) && Object.hasOwn(inner, step) ? inner[step as never] : undefined),
    above.value,
  )
  const subject: Subject = { path, value, known: above.known }
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, above.known.get(issue.keys) ?? []))
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return explainUnion(issue, subject)
  const { message, fix } = words(issue, subject)
  const where = path.length === 0 ? 'the document' : `\`${formatPath(path)}\``
  if (value === undefined && issue.code !== 'custom') return [{ path, message: `${where} is missing: expected ${message}`, ...fixed(fix) }]
  const secret = issue.code === 'custom' && issue.params?.secret === true
  const got = secret ? '' : `; got ${shown(value)}`
  const said = issue.message === '' ? `expected ${message}` : issue.message
  return [{ path, message: `${where}: ${said}${got}`, ...(issue.message === '' ? fixed(fix) : {}) }]
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function fixed(fix: string | undefined): { fix?: string } {
  return fix === undefined ? {} : { fix }
}

/** One finding for a key that nobody reads, at the key. */
export function unknownKey(key: string, path: Path, known: string[]): Finding {
  const meant = suggest(key, known)
  const finding = { path: [...path, key], at: 'key' as const }
  if (meant !== undefined) return { ...finding, message: `unknown key ${named(key)}; did you mean ${named(meant)}?` }
  return { ...finding, message: `unknown key ${named(key)}`, ...fixed(known.length > 0 ? `known here: ${known.join(', ')}` : undefined) }
}

/** Of several shapes, the one that the value looks like is explained; where it looks like none, all are named. */
function explainUnion(issue: Extract<Issue, { code: 'invalid_union' }>, subject: Subject): Finding[] {
  const alike = issue.errors.filter((issues) => !issues.some((inner) => inner.path.length === 0 && isMismatch(inner)))
  const [only] = alike
  if (only !== undefined && alike.length === 1) return only.flatMap((inner) => explain(inner, subject))
  const shapes = issue.errors.flatMap((issues) => issues.slice(0, 1).map((inner) => words(inner, subject).message))
  const where = `\`${formatPath(subject.path)}\``
  const expected = `expected ${[...new Set(shapes)].join(' or ')}`
  const message = subject.value === undefined ? `${where} is missing: ${expected}` : `${where}: ${expected}; got ${shown(subject.value)}`
  return [{ path: subject.path, message }]
}

function isMismatch(issue: Issue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_format'
}

/** What was expected, as it follows "expected …"; and what to do, where the value shows what went wrong. */
function words(issue: Issue, { value }: Subject): { message: string; fix?: string } {
  switch (issue.code) {
    case 'invalid_type':
      return { message: expectations[issue.expected] ?? issue.expected, ...slip(issue.expected, value) }
    case 'invalid_value':
      return choice(issue.values.map(String), value)
    case 'invalid_union':
      return choice(('options' in issue ? (issue.options as unknown[]) : []).map(String), value)
    case 'too_small':
      return { message: sized(issue.origin, issue.inclusive ? 'at least' : 'more than', Number(issue.minimum)) }
    case 'too_big':
      return { message: sized(issue.origin, issue.inclusive ? 'at most' : 'less than', Number(issue.maximum)) }
    default:
      return { message: 'another form' }
  }
}

/** The commonest slips: words of YAML 1.1, a number in quotes, a key with nothing behind it. */
function slip(expected: string, value: unknown): { fix?: string } {
  if (expected === 'boolean' && typeof value === 'string' && /^(on|off|yes|no)$/i.test(value)) {
    return { fix: `write ${/^(on|yes)$/i.test(value) ? 'true' : 'false'}` }
  }
  if ((expected === 'number' || expected === 'int') && typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)) {
    return { fix: 'write it without quotes' }
  }
  if (expected === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return { fix: 'put it in quotes' }
  return value === null ? { fix: 'write a value, or remove the key' } : {}
}

function choice(choices: string[], value: unknown): { message: string; fix?: string } {
  const message = choices.length === 1 ? `\`${choices[0]}\`` : `one of ${choices.map((word) => `\`${word}\``).join(', ')}`
  const meant = typeof value === 'string' ? suggest(value, choices) : undefined
  return { message, ...fixed(meant === undefined ? undefined : `did you mean \`${meant}\`?`) }
}

function sized(origin: string, relation: string, limit: number): string {
  if (origin === 'string') return limit === 1 && relation === 'at least' ? 'text that is not empty' : `${relation} ${limit} characters`
  if (origin === 'array') return `a list of ${relation} ${limit}`
  return `a number of ${relation} ${limit}`
}
