import { join } from 'node:path'
import type { CheckSpec } from '../../contract/check.ts'
import type { CheckContext, CheckRunner } from '../../ports/checks.ts'
import { checkCommand } from './command.ts'
import { checkFile } from './file.ts'
import { broken, type CheckResult } from './result.ts'
import { checkText } from './text.ts'

export interface CheckRunnerOptions {
  /** Absolute folder of the configuration; relative programs start there, and its `.assay/` is hidden from checks where a sandbox is available. */
  projectRoot: string
  /** Names of environment variables that every check gets besides the harmless ones. */
  passEnv?: readonly string[]
  /** Time for a command that sets none. */
  timeoutMs: number
  /** Most bytes kept of each of a command's two outputs. */
  maxOutputBytes: number
  /** Largest file whose content is looked at. */
  maxFileBytes?: number
  /** How long a command may take to end after SIGTERM. */
  killGraceMs?: number
  /** Files and folders hidden from commands besides `.assay/`. */
  hidden?: readonly string[]
}

const mib = 1024 * 1024

/** Runs checks of the kinds `command`, `file` and `text`. Other kinds, and `protect`, come to an error: what is not checked has not passed. */
export function createCheckRunner(options: CheckRunnerOptions): CheckRunner {
  return {
    async run(id, spec, context, signal) {
      const started = performance.now()
      const result = signal.aborted ? broken('stopped before it began') : await resultOf(spec, context, options, signal)
      return { id, kind: spec.kind, ...result, findings: [], durationMs: performance.now() - started }
    },
  }
}

async function resultOf(spec: CheckSpec, context: CheckContext, options: CheckRunnerOptions, signal: AbortSignal): Promise<CheckResult> {
  if (spec.protect !== undefined) return broken('`protect` is not available in this version; remove it')
  try {
    return await dispatch(spec, context, options, signal)
  } catch (error) {
    // A folder or file that vanishes or cannot be read while a check looks at it; anything without a system's code is a bug.
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return broken(`the check could not be run: ${message}`)
  }
}

async function dispatch(spec: CheckSpec, context: CheckContext, options: CheckRunnerOptions, signal: AbortSignal): Promise<CheckResult> {
  const maxFileBytes = options.maxFileBytes ?? 16 * mib
  switch (spec.kind) {
    case 'command':
      return await checkCommand(
        spec,
        context,
        {
          projectRoot: options.projectRoot,
          passEnv: options.passEnv ?? [],
          timeoutMs: options.timeoutMs,
          maxOutputBytes: options.maxOutputBytes,
          killGraceMs: options.killGraceMs ?? 5_000,
          hidden: [join(options.projectRoot, '.assay'), ...(options.hidden ?? [])],
        },
        signal,
      )
    case 'file':
      return await checkFile(spec, context, maxFileBytes)
    case 'text':
      return await checkText(spec, context, maxFileBytes)
    default:
      return broken(`checks of the kind \`${spec.kind}\` are not available in this version`)
  }
}
