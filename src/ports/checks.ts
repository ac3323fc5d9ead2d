import type { Digest } from '../contract/canonical.ts'
import type { CheckReport, CheckSpec } from '../contract/check.ts'
import type { ProgramWord } from '../contract/checks/program.ts'

/** A word of a command that names what it runs; `inBase` is its path in the work where the work's base has it, and it is there as the base has it. */
export interface CheckProgram extends ProgramWord {
  inBase?: string
  /** Whether it is there as accepted work has it, whose base had none: what lies beside the configuration comes first then. */
  ofWork?: boolean
}

export interface CheckContext {
  /** Private copy of the snapshot under review; the check may write into it, nobody reads it afterwards. */
  folder: string
  /** What the worker printed. */
  output: string
  /** Paths that the worker added, deleted or changed against the base, sorted. */
  changed: readonly string[]
  /** Bytes of a file as the base has it; undefined where it is not there. */
  baseFile(path: string): Promise<Uint8Array | undefined>
  /** Paths where the worker works that hold programs of checks and are as they were before it began. */
  kept?: readonly string[]
  /** What a command runs; its words alone where nothing is said. */
  programs?: readonly CheckProgram[]
  /** Folder that the worker's live files are in beside others: nothing in it is taken for the project's own. */
  live?: string
  /** Folders that workers of other tasks write in now, each with a copy of it as it was before: whatever is run from such a folder is run from the copy. */
  beside?: readonly { folder: string; copy: string }[]
  /** Keeps bytes for people and judges; resolves to what `CheckReport.evidence` names them by. */
  keep(bytes: Uint8Array): Promise<Digest>
}

/** Runs one check. Everything that is not a clear pass is a failure or an error; it never throws for what the work did. */
export interface CheckRunner {
  run(id: string, spec: CheckSpec, context: CheckContext, signal: AbortSignal): Promise<CheckReport>
}
