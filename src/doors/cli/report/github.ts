import { block, commandData, commandProperty, line } from './escape.ts'
import { type Finding, findingsOf, type Level } from './findings.ts'
import { markdown } from './markdown.ts'
import { pretty } from './pretty.ts'
import type { ReviewReport } from './report.ts'

/** GitHub shows so many annotations of each level for a step. */
const mostPerLevel = 10
/** A job summary may have so many bytes; above it GitHub drops all of it. */
const mostSummaryBytes = 1024 * 1024

const commands: Record<Level, string> = { error: 'error', warning: 'warning', note: 'notice' }

/**
 * Annotations, worst first, and the report itself while workflow commands are stopped.
 * `stopToken` must be random: whoever wrote the work under review must not be able to guess it.
 */
export function github(report: ReviewReport, stopToken: string): string {
  if (!/^[\w-]{16,}$/.test(stopToken)) throw new RangeError('github: the stop token needs at least 16 random letters, digits, _ or -')
  const findings = findingsOf(report)
  const levels = Object.keys(commands) as Level[]
  const shown = levels.flatMap((level) => findings.filter((finding) => finding.level === level).slice(0, mostPerLevel))
  const left = findings.length - shown.length
  return [
    ...shown.map((finding) => annotation(finding, report)),
    ...(left > 0 ? [`+${left} more findings`] : []),
    `::stop-commands::${stopToken}`,
    ...pretty(report, { columns: 120, colour: false })
      .split('\n')
      .map((text) => `| ${text}`),
    `::${stopToken}::`,
  ].join('\n')
}

function annotation({ level, title, message, places }: Finding, { subject }: ReviewReport): string {
  const place = places[0] ?? (subject.kind === 'file' ? { path: subject.name } : undefined)
  const properties = [
    ...(place === undefined ? [] : [`file=${commandProperty(place.path)}`]),
    ...(place?.line === undefined ? [] : [`line=${place.line}`]),
    ...(place?.endLine === undefined ? [] : [`endLine=${place.endLine}`]),
    `title=${commandProperty(line(title, 120))}`,
  ]
  return `::${commands[level]} ${properties.join(',')}::${commandData(block(message, 2000))}`
}

/** Markdown for the file named by `GITHUB_STEP_SUMMARY`, within its limit. */
export function githubSummary(report: ReviewReport): string {
  const whole = `${markdown(report)}\n`
  if (Buffer.byteLength(whole) <= mostSummaryBytes) return whole
  const brief = { ...report, checks: [], criteria: report.criteria.slice(0, 20), dimensions: [], judges: report.judges.slice(0, 20) }
  const note = 'The whole report is too long for a job summary; the other formats have it.'
  const short = `${markdown({ ...brief, nextSteps: brief.nextSteps.slice(0, 20), suspicions: [], warnings: [note] })}\n`
  return Buffer.byteLength(short) <= mostSummaryBytes ? short : `${note}\n`
}
