import type { CheckReport } from '../../contract/check.ts'
import { visible } from '../../contract/source/shown.ts'

const longestComplaint = 500

/** What one check found; the runner adds which check it was. */
export type CheckResult = Pick<CheckReport, 'outcome' | 'summary' | 'output'>

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

/** Passes when nothing was found wrong; otherwise every complaint is in the output, the first in the summary. */
export function judged(subject: string, complaints: readonly string[]): CheckResult {
  const lines = complaints.map((complaint) => visible(complaint.slice(0, longestComplaint)))
  const [first, ...more] = lines
  if (first === undefined) return passed(`${subject}: as required`)
  return failed(`${subject}: ${first}${more.length > 0 ? ` (and ${more.length} more)` : ''}`, lines.join('\n'))
}
