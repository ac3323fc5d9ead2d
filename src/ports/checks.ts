import type { CheckReport, CheckSpec } from '../contract/check.ts'

export interface CheckContext {
  /** Private copy of the snapshot under review; the check may write into it, nobody reads it afterwards. */
  folder: string
  /** What the worker printed. */
  output: string
}

/** Runs one check. Everything that is not a clear pass is a failure or an error; it never throws for what the work did. */
export interface CheckRunner {
  run(id: string, spec: CheckSpec, context: CheckContext, signal: AbortSignal): Promise<CheckReport>
}
