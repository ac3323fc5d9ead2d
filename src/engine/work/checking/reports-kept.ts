import { digestOf } from '../../../contract/canonical.ts'
import type { CheckReport, CheckSpec } from '../../../contract/check.ts'

/** What the reports that are kept may weigh together, in characters of their output. */
const maxWeight = 16 * 1024 * 1024

/** What a check looks at, besides its own words. */
export interface Looked {
  snapshot: string
  base: string
  output: string
}

/**
 * Reports by what was checked: the same check of the same content comes to the same. A check that could not do its job is not kept,
 * nor is one that asks the network, for the world may have changed.
 */
export class KeptReports {
  readonly #reports = new Map<string, CheckReport>()
  #weight = 0

  find(id: string, spec: CheckSpec, looked: Looked): CheckReport | undefined {
    const found = asksTheNetwork(spec) ? undefined : this.#reports.get(keyOf(spec, looked))
    return found && { ...found, id, cached: true }
  }

  keep(spec: CheckSpec, looked: Looked, report: CheckReport): void {
    if (asksTheNetwork(spec) || report.outcome === 'error') return
    const key = keyOf(spec, looked)
    if (this.#reports.has(key)) return
    this.#reports.set(key, report)
    this.#weight += weightOf(report)
    for (const [oldest, { output, summary }] of this.#reports) {
      if (this.#weight <= maxWeight) break
      this.#reports.delete(oldest)
      this.#weight -= weightOf({ output, summary })
    }
  }
}

function weightOf({ output, summary }: Pick<CheckReport, 'output' | 'summary'>): number {
  return 1_000 + output.length + summary.length
}

function asksTheNetwork(spec: CheckSpec): boolean {
  return 'url' in spec && spec.url !== undefined
}

function keyOf({ id: _id, ...spec }: CheckSpec, { snapshot, base, output }: Looked): string {
  const seesOutput = spec.kind === 'text' && spec.path === undefined
  // A program is what the base has of it.
  const seesBase = spec.kind === 'diff' || spec.kind === 'placeholders' || spec.kind === 'command'
  return digestOf({ spec, snapshot, ...(seesOutput && { output }), ...(seesBase && { base }) })
}
