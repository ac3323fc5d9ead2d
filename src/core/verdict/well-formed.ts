import type { Json } from '../../contract/canonical.ts'
import type { PriorPoint } from '../../contract/review.ts'
import type { Dimension } from '../../contract/score.ts'
import type { Criterion } from '../../contract/task.ts'
import { type AnswerForm, Verdict } from '../../contract/verdict.ts'
import { excerpt } from './excerpt.ts'

/** What a reply must answer, fixed when the review opened. */
export interface Expectations {
  nonce: string
  criteria: readonly Criterion[]
  dimensions: readonly Dimension[]
  points: readonly PriorPoint[]
  form: AnswerForm
}

/** Most pointers in one list of evidence. */
export const maxEvidence = 100
/** Problems named at once. One strict reprompt is all there is, so it names several; each quotes little of the reply. */
const maxProblems = 5

export type WellFormed = { ok: true; verdict: Verdict } | { ok: false; problems: string[] }

/** A verdict that has the right shape and answers exactly what was asked, without contradicting itself. */
export function readVerdict(value: Json, expected: Expectations): WellFormed {
  const parsed = Verdict.safeParse(value)
  const problems = parsed.success ? contentProblems(parsed.data, expected) : parsed.error.issues.map((issue) => shapeProblem(issue, value))
  if (parsed.success && problems.length === 0) return { ok: true, verdict: parsed.data }
  const more = problems.length - maxProblems
  return { ok: false, problems: [...problems.slice(0, maxProblems), ...(more > 0 ? [`${more} more problems`] : [])] }
}

type Issue = NonNullable<ReturnType<typeof Verdict.safeParse>['error']>['issues'][number]

function shapeProblem(issue: Issue, document: Json): string {
  const where = placeOf(issue.path)
  const found = valueAt(document, issue.path)
  if (issue.code === 'unrecognized_keys') {
    const rest = issue.keys.length - 1
    return `${where} has the unknown field ${excerpt(issue.keys[0] ?? '')}${rest > 0 ? ` and ${rest} more` : ''}`
  }
  if (found === undefined) return `${where} is missing`
  if (issue.path.at(-1) === 'score') return `${where} must be an integer from 1 to 5; it is ${shown(found)}`
  if (issue.code === 'invalid_value') return `${where} must be one of ${issue.values.join(', ')}; it is ${shown(found)}`
  if (issue.code === 'invalid_type') return `${where} must be of type ${issue.expected}; it is ${shown(found)}`
  return `${where} is not as expected; it is ${shown(found)}`
}

/** Paths run through our own field names and through indices only, never through text of the reply. */
function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return place === '' ? 'the reply' : place.replace(/^\./, '')
}

function valueAt(document: Json, path: readonly PropertyKey[]): Json | undefined {
  let value: Json | undefined = document
  for (const step of path) value = (value as Record<PropertyKey, Json> | undefined)?.[step]
  return value
}

function shown(value: Json): string {
  if (typeof value === 'string') return excerpt(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function contentProblems(verdict: Verdict, expected: Expectations): string[] {
  return [
    ...(verdict.nonce === expected.nonce ? [] : ["nonce must equal the review's nonce"]),
    ...answersExactly('prior', 'ref', verdict.prior, expected.points),
    ...answersExactly('criteria', 'id', verdict.criteria, expected.criteria),
    ...answersExactly('dimensions', 'name', verdict.dimensions, expected.dimensions),
    ...(verdict.verdict === 'accept' ? acceptProblems(verdict, expected) : rejectProblems(verdict)),
    ...(isBlank(verdict.concern) ? ['concern must not be blank'] : []),
    ...evidenceProblems(verdict),
  ]
}

/** Each thing asked about is answered once, and nothing else is. */
function answersExactly<K extends string>(
  list: string,
  key: K,
  answers: readonly Record<K, string>[],
  asked: readonly Record<K, string>[],
): string[] {
  const open = new Set(asked.map((thing) => thing[key]))
  const known = new Set(open)
  const problems: string[] = []
  for (const { [key]: name } of answers) {
    if (!known.has(name)) problems.push(`${list} has the unknown ${key} ${excerpt(name)}`)
    else if (!open.delete(name)) problems.push(`${list} has the ${key} ${excerpt(name)} twice`)
  }
  const missing = Array.from(open, (name) => excerpt(name, 80))
  const rest = missing.length - maxProblems
  if (missing.length > 0) {
    problems.push(`${list} does not answer ${missing.slice(0, maxProblems).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`)
  }
  return problems
}

function acceptProblems(verdict: Verdict, expected: Expectations): string[] {
  const hard = new Set(expected.criteria.filter((criterion) => criterion.hard).map(({ id }) => id))
  const unmet = verdict.criteria.find(({ id, met }) => met === 'no' && hard.has(id))
  return [
    ...(unmet === undefined ? [] : [`verdict accept contradicts criterion ${excerpt(unmet.id, 64)}, which is hard and answered no`]),
    ...(verdict.rejection_category === null ? [] : ['rejection_category must be null on accept']),
    ...(verdict.next_step === null ? [] : ['next_step must be null on accept']),
  ]
}

function rejectProblems(verdict: Verdict): string[] {
  return [
    ...(verdict.rejection_category === null ? ['rejection_category must name a category on reject'] : []),
    ...(verdict.next_step === null || isBlank(verdict.next_step) ? ['next_step must say on reject what to do'] : []),
  ]
}

function evidenceProblems(verdict: Verdict): string[] {
  const lists: [string, readonly string[]][] = [
    ...verdict.prior.map(({ evidence }, index): [string, string[]] => [`prior[${index}].evidence`, evidence]),
    ...verdict.criteria.map(({ evidence }, index): [string, string[]] => [`criteria[${index}].evidence`, evidence]),
    ['evidence', verdict.evidence],
  ]
  return lists.flatMap(([where, evidence]) => [
    ...(evidence.some(isBlank) ? [`${where} has a blank entry`] : []),
    ...(evidence.length > maxEvidence ? [`${where} has more than ${maxEvidence} entries`] : []),
  ])
}

/** Nothing that a reader could see. */
function isBlank(text: string): boolean {
  return /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text)
}
