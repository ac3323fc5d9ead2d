import type { NotStarted } from './program.ts'
import type { SandboxRequest } from './sandbox.ts'

export interface RunRequest {
  /** Program and arguments; no shell ever sees them. */
  argv: readonly string[]
  /** Absolute working folder. */
  cwd: string
  /** Absolute folder that a relative program with a slash in its name starts from; the working folder unless told. */
  base?: string
  /** The whole environment; only the run's own id is added. */
  env: Readonly<Record<string, string>>
  /** Text for standard input; without it there is none. */
  stdin?: string
  timeoutMs: number
  /** Most bytes kept of standard output, and of standard error. */
  maxOutputBytes: number
  /** How long a process may take to end after SIGTERM before SIGKILL. */
  killGraceMs: number
  signal?: AbortSignal
  /** Sandboxes the process where that is possible; the ending says whether it was. */
  sandbox?: SandboxRequest
}

/** What is known of a process that ran, however it ended. */
export interface Ran {
  /** Decoded as UTF-8, cut in the middle at the limit; a line says how many bytes were left out. */
  stdout: string
  stderr: string
  /** Whether anything of it was left out. */
  stdoutCut: boolean
  stderrCut: boolean
  durationMs: number
  /** False: it ran with the rights of this process and saw all files that it sees. */
  sandboxed: boolean
  /** Processes that it started, that could not be ended and may still run. 0 but for what not even SIGKILL ends at once. */
  survivors: number
}

/**
 * How a process ended. Only `not_started` proves that nothing ran: everything else may have had effects.
 * `timed_out` and `stopped` say who ended it; the code of a process that ends in time by itself is not looked at then.
 */
export type ProcessEnding =
  | (Ran & { kind: 'exited'; code: number })
  | (Ran & { kind: 'signalled'; signal: string })
  | (Ran & { kind: 'timed_out'; timeoutMs: number })
  | (Ran & { kind: 'stopped' })
  | NotStarted
