import { github } from './github.ts'
import { json } from './json.ts'
import { junit } from './junit.ts'
import { markdown } from './markdown.ts'
import { minimal } from './minimal.ts'
import { pretty, type Screen } from './pretty.ts'
import type { ReviewReport } from './report.ts'
import { sarif } from './sarif.ts'

export interface Rendering extends Screen {
  /** Version of Assay, named in SARIF. */
  version: string
  /** Random, for this report alone. */
  stopToken: string
}

const renderers = {
  pretty: (report: ReviewReport, screen: Rendering) => pretty(report, screen),
  minimal,
  json,
  junit,
  sarif: (report: ReviewReport, { version }: Rendering) => sarif(report, version),
  github: (report: ReviewReport, { stopToken }: Rendering) => github(report, stopToken),
  markdown,
} satisfies Record<string, (report: ReviewReport, rendering: Rendering) => string>

export type Format = keyof typeof renderers

/** Names of the formats, in the order in which help lists them. */
export const formats = Object.keys(renderers) as readonly Format[]

/** The report in one format, without a newline at its end. */
export function render(format: Format, report: ReviewReport, rendering: Rendering): string {
  return renderers[format](report, rendering)
}
