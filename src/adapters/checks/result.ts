import type { CheckReport } from '../../contract/check.ts'
import { visible } from '../../contract/source/shown.ts'

const longestComplaint = 500
const mostComplaints = 200

/** What one check found; the runner adds which check it was. */
export type CheckResult = Pick<CheckReport, 'outcome' | 'summary' | 'output' | 'evidence'> & Partial<Pick<CheckReport, 'findings'>>

export function passed(summary: string, output = ''): CheckResult {
  return { outcome: 'pass', summary, output }
}

/** The work does not hold up. */
export function failed(summary: string, output = ''): CheckResult {
  return { outcome: 'fail', summary, output }
}

/** The check could not do its job; that is never a pass. */
export function broken(summary: string, output = ''): CheckResult {
  return { outcome: 'error', summary, output }
}

/** Passes when nothing was found wrong; otherwise the complaints are in the output, the first in the summary. Notes follow in either case. */
export function judged(subject: string, complaints: readonly string[], notes: readonly string[] = []): CheckResult {
  const output = [...listed(complaints), ...listed(notes)].join('\n')
  const [first, ...more] = complaints
  if (first === undefined) return passed(`${subject}: as required`, output)
  return failed(`${subject}: ${shortened(first)}${more.length > 0 ? ` (and ${more.length} more)` : ''}`, output)
}

function listed(lines: readonly string[]): string[] {
  const shown = lines.slice(0, mostComplaints).map(shortened)
  return lines.length > shown.length ? [...shown, `and ${lines.length - shown.length} more`] : shown
}

function shortened(line: string): string {
  return visible(line.slice(0, longestComplaint))
}
