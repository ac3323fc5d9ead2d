import { visible } from './shown.ts'

/** Where in a document: keys and list positions from the root. */
export type Path = readonly (string | number)[]

/** Where a reader looks. Line and column count from 1; both are absent where the value came from no file. */
export interface Place {
  file: string
  line?: number
  column?: number
}

/** Something wrong at a path, before anybody knows on which line that is. */
export interface Finding {
  path: Path
  message: string
  /** What to do about it. */
  fix?: string
  /** The key is wrong rather than its value. */
  at?: 'key'
}

/** Something wrong, for people and programs. */
export interface Problem extends Place {
  path: string
  message: string
  fix?: string
}

/** Turns a path into a place. */
export type Locate = (path: Path, at?: 'key') => Place

/** Past this many, problems are counted and no longer listed. */
export const mostProblems = 100

/** `tasks[0].acceptanceCriteria[1]`. */
export function formatPath(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (/^[\p{L}\p{N}_$-]+$/u.test(step)) text += text === '' ? step : `.${step}`
    else text += `[${JSON.stringify(visible(step))}]`
  }
  return text
}

/** `assay.yaml:3:5`, or the name of what is not a file. */
export function formatPlace(place: Place): string {
  const file = visible(place.file)
  return place.line === undefined ? file : `${file}:${place.line}:${place.column ?? 1}`
}

/** `assay.yaml:3:5: what is wrong (what to do)`, always one line. */
export function formatProblem(problem: Problem): string {
  const fix = problem.fix === undefined ? '' : ` (${visible(problem.fix)})`
  return `${formatPlace(problem)}: ${visible(problem.message)}${fix}`
}

/** Findings with their places, in the order of the document, each once, the number bounded. */
export function placeFindings(findings: readonly Finding[], locate: Locate): Problem[] {
  return arrange(
    findings.map((finding) => ({
      ...locate(finding.path, finding.at),
      path: formatPath(finding.path),
      message: finding.message,
      ...(finding.fix === undefined ? {} : { fix: finding.fix }),
    })),
  )
}

/** In the order of the document, each once, the number bounded: what is left out is counted in one last problem. */
export function arrange(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>()
  const unique = problems.filter((problem) => {
    const key = formatProblem(problem)
    return !seen.has(key) && seen.add(key)
  })
  unique.sort((a, b) => compare(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
  const more = unique.length - mostProblems
  const last = unique[mostProblems]
  if (more <= 0 || last === undefined) return unique
  return [...unique.slice(0, mostProblems), { ...last, message: `and ${more} more problems from here on`, fix: 'mend those above first' }]
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
