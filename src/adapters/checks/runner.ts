import { join } from 'node:path'
import type { CheckSpec } from '../../contract/check.ts'
import { durationMs } from '../../contract/config/duration.ts'
import type { CheckContext, CheckRunner } from '../../ports/checks.ts'
import { checkCommand, type CommandLimits } from './command.ts'
import { withDeadline } from './deadline.ts'
import { broken, type CheckResult } from './result.ts'

export interface CheckRunnerOptions {
  /** Absolute folder of the configuration; relative programs start there, and its `.assay/` is hidden from checks where a sandbox is available. */
  projectRoot: string
  /** Names of environment variables that every check gets besides the harmless ones. */
  passEnv?: readonly string[]
  /** Time for a check that sets none. */
  timeoutMs: number
  /** Most bytes kept of each of a command's two outputs. */
  maxOutputBytes: number
  /** Largest file whose content is looked at. */
  maxFileBytes?: number
  /** The browser for checks that need one; without it, it is looked for. */
  chrome?: string
  /** How long a command may take to end after SIGTERM. */
  killGraceMs?: number
  /** Files and folders hidden from commands besides `.assay/`. */
  hidden?: readonly string[]
}

const mib = 1024 * 1024

/** Runs checks of every kind, each within a time limit. `protect` is seen to before: the folder has the protected files as they were. */
export function createCheckRunner(options: CheckRunnerOptions): CheckRunner {
  return {
    async run(id, spec, context, signal) {
      const started = performance.now()
      const result = signal.aborted ? broken('stopped before it began') : await resultOf(spec, context, options, signal)
      return { id, kind: spec.kind, findings: [], ...result, durationMs: performance.now() - started }
    },
  }
}

async function resultOf(spec: CheckSpec, context: CheckContext, options: CheckRunnerOptions, signal: AbortSignal): Promise<CheckResult> {
  try {
    return await dispatch(spec, context, options, signal)
  } catch (error) {
    // A folder or file that vanishes or cannot be read while a check looks at it; anything without a system's code is a bug.
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return broken(`the check could not be run: ${message}`)
  }
}

/** What a kind needs is loaded when it is first used: most runs use few. */
async function dispatch(spec: CheckSpec, context: CheckContext, options: CheckRunnerOptions, signal: AbortSignal): Promise<CheckResult> {
  const maxBytes = options.maxFileBytes ?? 16 * mib
  const timeoutMs = 'timeout' in spec && spec.timeout !== undefined ? durationMs(spec.timeout) : options.timeoutMs
  switch (spec.kind) {
    case 'command':
      return await checkCommand(spec, context, commandLimits(options), signal)
    case 'file': {
      const { checkFile } = await import('./content/file.ts')
      return await withDeadline(timeoutMs, signal, () => checkFile(spec, context, maxBytes))
    }
    case 'text': {
      const { checkText } = await import('./content/text.ts')
      return await withDeadline(timeoutMs, signal, () => checkText(spec, context, maxBytes))
    }
    case 'placeholders': {
      const { checkPlaceholders } = await import('./content/placeholders.ts')
      return await withDeadline(timeoutMs, signal, (until) => checkPlaceholders(spec, context, maxBytes, until))
    }
    case 'diff': {
      const { checkDiff } = await import('./content/diff.ts')
      return await withDeadline(timeoutMs, signal, (until) => checkDiff(spec, context, until))
    }
    case 'http': {
      const { checkHttp } = await import('./web/http.ts')
      return await checkHttp(spec, context, { timeoutMs, maxBytes }, signal)
    }
    case 'html': {
      const { checkHtml } = await import('./web/html.ts')
      return await withDeadline(timeoutMs, signal, (until) => checkHtml(spec, context, { timeoutMs, maxBytes }, until))
    }
    case 'browser': {
      const { checkBrowser } = await import('./browser/browser.ts')
      return await checkBrowser(spec, context, { timeoutMs, ...(options.chrome !== undefined && { chrome: options.chrome }) }, signal)
    }
  }
}

function commandLimits(options: CheckRunnerOptions): CommandLimits {
  return {
    projectRoot: options.projectRoot,
    passEnv: options.passEnv ?? [],
    timeoutMs: options.timeoutMs,
    maxOutputBytes: options.maxOutputBytes,
    killGraceMs: options.killGraceMs ?? 5_000,
    hidden: [join(options.projectRoot, '.assay'), ...(options.hidden ?? [])],
  }
}
