import { jsonText } from './escape.ts'
import type { ReviewReport } from './report.ts'

/** The report as it is. `version` grows when a reader of the last one would misunderstand. */
export function json(report: ReviewReport): string {
  return jsonText({ version: 1, ...report })
}
