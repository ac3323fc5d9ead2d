import type { Content } from '../../contract/case.ts'
import { Case } from '../../contract/case.ts'
import type { CheckSpec } from '../../contract/check.ts'
import { readCleanJson } from '../../contract/source/read-json.ts'
import type { Criterion, TaskSpec } from '../../contract/task.ts'
import { parseStrictJson } from '../verdict/strict-json.ts'

/** Longest case text that is read at all. */
export const maxCaseBytes = 256 * 1024

export type ReadCase = { ok: true; case: Case } | { ok: false; problems: string[] }

/**
 * Reads a worker's case: one JSON object of the right shape that covers every criterion and names no other. No object in it has a key twice:
 * the worker would have said both, and a reader would see one.
 */
export function readCase(raw: string, criteria: readonly Criterion[]): ReadCase {
  if (raw.length > maxCaseBytes)
    return { ok: false, problems: [`the case is ${raw.length} characters long; at most ${maxCaseBytes} are read`] }
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch (error) {
    return { ok: false, problems: [`the case is not one JSON object: ${(error as Error).message}`] }
  }
  const parsed = Case.safeParse(value)
  if (!parsed.success) {
    return {
      ok: false,
      problems: parsed.error.issues.slice(0, 20).map((issue) => `${issue.path.join('.') || 'the case'}: ${issue.message}`),
    }
  }
  if (readCleanJson(raw) === undefined) {
    const strict = parseStrictJson(raw)
    return { ok: false, problems: [`the case: ${strict.ok ? 'a key appears twice in one object' : strict.reason}`] }
  }
  const problems = coverageProblems(parsed.data, criteria)
  return problems.length > 0 ? { ok: false, problems } : { ok: true, case: parsed.data }
}

/** Every criterion by id or exact text, none unknown. One may be met in several places. */
function coverageProblems(argued: Case, criteria: readonly Criterion[]): string[] {
  const problems: string[] = []
  const covered = new Set<string>()
  for (const { criterion } of argued.ac_coverage) {
    const known = criteria.find((one) => one.id === criterion) ?? criteria.find((one) => one.text === criterion)
    if (known) covered.add(known.id)
    else problems.push(`ac_coverage names ${JSON.stringify(criterion)}, which is no criterion of this task (${idsOf(criteria)})`)
  }
  const missing = criteria.filter((one) => !covered.has(one.id))
  if (missing.length > 0) problems.push(`ac_coverage misses ${idsOf(missing)}: point to where each is met`)
  return problems
}

function idsOf(criteria: readonly Criterion[]): string {
  return criteria.length === 0 ? 'it has none' : criteria.map((one) => one.id).join(', ')
}

/** The case of a command that printed none: its output, or its change where it printed nothing. Exempt from coverage. */
export function implicitCase(content: Content): Case {
  const printed = (content.output ?? '').trim()
  if (printed !== '') return { summary: shorten(printed.split('\n').slice(0, 2).join('\n')), ac_coverage: [] }
  const named = content.paths.slice(0, 10).join(', ')
  const more = content.paths.length > 10 ? ` and ${content.paths.length - 10} more` : ''
  return { summary: shorten(content.paths.length > 0 ? `Changed ${named}${more}.` : 'No output and no change.'), ac_coverage: [] }
}

function shorten(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 499)}…`
}

/** Whether nothing at all is a hard reject: unless the task expects no change, or its every criterion is proven by a check. */
export function emptyIsRejected(spec: TaskSpec, content: Content): boolean {
  if (!content.empty || !spec.expectsDiff) return false
  return spec.criteria.length === 0 || !spec.criteria.every((criterion) => spec.checks.some((check) => proves(check, criterion)))
}

function proves(check: CheckSpec, criterion: Criterion): boolean {
  return check.proves?.includes(criterion.id) ?? false
}
