import { line } from './escape.ts'
import { findingsOf } from './findings.ts'
import { deliverableText, headline, type ReviewReport, usageText } from './report.ts'

const mostFindings = 12

/** A few lines for agents and CI logs: what to do about it first, the result last. */
export function minimal(report: ReviewReport): string {
  const findings = findingsOf(report).filter(({ key, level }) => key !== 'decision' && level !== 'note')
  const shown = findings.slice(0, mostFindings)
  return [
    ...shown.map(({ level, title, message }) => `${level}: ${line(title, 160)}: ${line(message, 300)}`),
    ...(findings.length > shown.length ? [`+${findings.length - shown.length} more findings`] : []),
    ...(report.result === 'clean' ? [] : [`concern: ${line(report.concern, 600)}`]),
    ...report.nextSteps.slice(0, 10).map(({ from, text }) => `next (${line(from, 60)}): ${line(text, 600)}`),
    ...[deliverableText(report)].flatMap((text) => (text === undefined ? [] : [line(text, 600)])),
    `usage: ${usageText(report)}`,
    resultLine(report),
  ].join('\n')
}

/** The one line that says how it ended. */
export function resultLine(report: ReviewReport): string {
  const category = report.category === null || report.result === 'owner-accepted' ? '' : ` ${report.category}`
  return `RESULT: ${line(headline(report), 500)}${category} (${line(report.subject.name, 120)})`
}
