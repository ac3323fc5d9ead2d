import type { Category } from '../../../contract/verdict.ts'
import { againstBar, type CriterionReport, headline, isBelow, type ReviewReport, standingOf } from './report.ts'

/** A place in the work that evidence points at and that was found there. */
export interface Place {
  path: string
  line?: number
  endLine?: number
}

export type Rule = Category | 'owner-accepted' | 'inconclusive' | 'unreviewed' | 'judge' | 'suspicion' | 'warning'
export type Level = 'error' | 'warning' | 'note'

/** One thing to tell, with the places it is about. Its texts are not escaped yet. */
export interface Finding {
  level: Level
  rule: Rule
  /** Names the finding among those of its subject, whatever the judges' wording; the same next time. */
  key: string
  title: string
  message: string
  places: Place[]
}

const order: Record<Level, number> = { error: 0, warning: 1, note: 2 }

/** All there is to tell, worst first. A review that passed has no errors; one that did not has at least one. */
export function findingsOf(report: ReviewReport): Finding[] {
  const all = [
    ...decision(report),
    ...checks(report),
    ...criteria(report),
    ...suspicions(report),
    ...judges(report),
    ...dimensions(report),
    ...report.warnings.map((text, index) => bare('note', 'warning', `warning:${index}`, 'warning', text)),
  ]
  return all.sort((a, b) => order[a.level] - order[b.level])
}

/** `path:line`, `path:line-line` or `path:symbol`; what is a quotation, a check or an absence has no place. */
export function placeOf(pointer: string): Place | undefined {
  const trimmed = pointer.trim()
  if (/^(?:absent:|check:|["“])/.test(trimmed) || trimmed === '') return undefined
  const split = /^(.+?):([^:]+)$/s.exec(trimmed)
  const path = split?.[1] ?? trimmed
  if (/^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|[\r\n]/.test(path)) return undefined
  const lines = /^L?([1-9]\d{0,8})(?:-L?([1-9]\d{0,8}))?$/.exec(split?.[2] ?? '')
  if (!lines) return { path }
  const [from, to] = [Number(lines[1]), Number(lines[2] ?? lines[1])]
  return { path, line: from, ...(to > from && { endLine: to }) }
}

/** Places of the judges that answered no, each once. */
export function placesOf(criterion: CriterionReport): Place[] {
  const pointers = criterion.answers.filter(({ met }) => met === 'no').flatMap(({ evidence }) => evidence)
  const places = pointers.filter(({ resolved }) => resolved).flatMap(({ pointer }) => placeOf(pointer) ?? [])
  return [...new Map(places.map((place) => [`${place.path}\n${place.line}\n${place.endLine}`, place])).values()]
}

/** What the judges wrote on a criterion, with the evidence that was not found. */
export function criterionText(criterion: CriterionReport): string {
  const lines = criterion.answers.map(({ judge, met, reasoning, evidence }) => {
    const missing = evidence.filter(({ resolved }) => !resolved).map(({ pointer }) => pointer)
    return `${judge}: ${met}. ${reasoning}${missing.length > 0 ? ` (evidence not found: ${missing.join(', ')})` : ''}`
  })
  return [criterion.text, ...lines].join('\n')
}

function bare(level: Level, rule: Rule, key: string, title: string, message: string): Finding {
  return { level, rule, key, title, message, places: [] }
}

function decision(report: ReviewReport): Finding[] {
  if (report.result === 'clean') return []
  const rule = report.result === 'below-threshold' ? (report.category ?? 'acceptance_gap') : report.result
  const steps = report.nextSteps.map(({ from, text }) => `Next (${from}): ${text}`)
  return [
    {
      level: report.passed ? 'warning' : 'error',
      rule,
      key: 'decision',
      title: headline(report),
      message: [report.concern, ...steps].join('\n'),
      places: report.criteria.flatMap(placesOf).slice(0, 10),
    },
  ]
}

function checks(report: ReviewReport): Finding[] {
  return report.checks
    .filter(({ outcome }) => outcome !== 'pass')
    .map(({ id, outcome, summary, findings }) =>
      bare(
        report.passed ? 'warning' : 'error',
        'acceptance_gap',
        `check:${id}`,
        `check ${id} ${outcome === 'fail' ? 'failed' : 'could not run'}`,
        [summary, ...findings].join('\n'),
      ),
    )
}

function criteria(report: ReviewReport): Finding[] {
  const levels: Record<string, Level> = report.passed ? { hard: 'warning', soft: 'note' } : { hard: 'error', soft: 'warning' }
  return report.criteria
    .filter((criterion) => standingOf(criterion) === 'no' || standingOf(criterion) === 'cannot_tell')
    .map((criterion) => ({
      level: standingOf(criterion) === 'no' ? (levels[criterion.hard ? 'hard' : 'soft'] ?? 'warning') : 'note',
      rule: report.category ?? 'acceptance_gap',
      key: `criterion:${criterion.id}`,
      title: `${criterion.id} ${standingOf(criterion) === 'no' ? 'is not met' : 'could not be told'}`,
      message: criterionText(criterion),
      places: placesOf(criterion),
    }))
}

function suspicions(report: ReviewReport): Finding[] {
  return report.suspicions.map((text, index) => bare('warning', 'suspicion', `suspicion:${index}`, 'suspicion', text))
}

const silent = { abstained: 'could not tell', void: 'gave no verdict that can be read', unavailable: 'could not be reached' }

function judges(report: ReviewReport): Finding[] {
  return report.judges.flatMap(({ judge, outcome, concern = '' }, index) => {
    if (outcome === 'accepts' || outcome === 'rejects') return []
    const title = `${judge} ${silent[outcome]}`
    return [bare(outcome === 'abstained' ? 'note' : 'warning', 'judge', `judge:${index}:${judge}`, title, concern || title)]
  })
}

function dimensions(report: ReviewReport): Finding[] {
  return report.dimensions.flatMap(({ name, score, reasoning }) => {
    if (score === undefined || !isBelow(score, report.bar)) return []
    const rule = report.category ?? 'acceptance_gap'
    const message = reasoning.map(({ judge, text }) => `${judge}: ${text}`).join('\n')
    return [
      bare(
        report.passed ? 'note' : 'warning',
        rule,
        `dimension:${name}`,
        `${name} ${againstBar(score, report.bar)}`,
        message || 'below the bar',
      ),
    ]
  })
}
