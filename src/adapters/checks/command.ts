import { realpathSync } from 'node:fs'
import type { CheckSpec } from '../../contract/check.ts'
import { durationMs } from '../../contract/config/duration.ts'
import { excerpt } from '../../contract/source/shown.ts'
import type { CheckContext } from '../../ports/checks.ts'
import { buildEnv, isNeverPassed } from '../process/environment.ts'
import { withPrivateFolder } from '../process/files/private-folder.ts'
import type { ProcessEnding } from '../process/process.ts'
import { runProcess } from '../process/run.ts'
import { type Inside, openInside } from './inside.ts'
import { ownCommand } from './own-command.ts'
import { broken, type CheckResult, failed, passed } from './result.ts'

type CommandSpec = Extract<CheckSpec, { kind: 'command' }>

export interface CommandLimits {
  /** Absolute folder of the configuration; relative programs start there. */
  projectRoot: string
  /** Names of environment variables that every check gets besides the harmless ones. */
  passEnv: readonly string[]
  /** Time for a check that sets none. */
  timeoutMs: number
  maxOutputBytes: number
  killGraceMs: number
  /** What no check may see; only a sandbox can see to that. */
  hidden: readonly string[]
}

/** Runs a program on the work. Exit code 0 is a pass, any other a failure; whatever else happens, the check could not do its job. */
export async function checkCommand(
  spec: CommandSpec,
  context: CheckContext,
  limits: CommandLimits,
  signal: AbortSignal,
): Promise<CheckResult> {
  const subject = excerpt(spec.argv.join(' '))
  const refused = [...(spec.env ?? []), ...limits.passEnv].filter(isNeverPassed)
  if (refused.length > 0) return broken(`${subject}: ${refused.join(', ')} is never passed to a process; remove it from \`env\``)
  // The folder itself is ours; only what a path in it means has to be looked at.
  const cwd: Inside =
    spec.cwd === undefined ? { kind: 'folder', path: realpathSync.native(context.folder) } : await openInside(context.folder, spec.cwd)
  if (cwd.kind === 'file') await cwd.handle.close()
  if (cwd.kind !== 'folder') return notAFolder(subject, spec.cwd ?? '.', cwd)
  const command = ownCommand(spec, context, limits.projectRoot)
  if ('missing' in command)
    return broken(
      `${subject}: ${excerpt(command.missing)} is not in the base of the work, and no file of the project (it is relative to ${limits.projectRoot})`,
    )
  const ending = await withPrivateFolder((temporary) =>
    runProcess({
      argv: command.argv,
      cwd: cwd.path,
      base: limits.projectRoot,
      env: buildEnv({ pass: [...limits.passEnv, ...(spec.env ?? [])], extra: { TMPDIR: temporary } }),
      timeoutMs: spec.timeout === undefined ? limits.timeoutMs : durationMs(spec.timeout),
      maxOutputBytes: limits.maxOutputBytes,
      killGraceMs: limits.killGraceMs,
      signal,
      sandbox: {
        writable: [context.folder, temporary],
        readOnly: [
          ...(context.folder === limits.projectRoot ? [] : [limits.projectRoot]),
          ...(context.beside ?? []).map(({ copy }) => copy),
        ],
        hidden: limits.hidden,
        network: spec.network === true ? 'all' : 'none',
      },
    }),
  )
  return { ...resultOf(subject, ending), findings: command.findings }
}

function notAFolder(subject: string, cwd: string, found: { kind: string; why?: string }): CheckResult {
  const summary = `${subject}: the folder ${excerpt(cwd)} to run in: ${found.why ?? (found.kind === 'missing' ? 'it does not exist' : 'it is a file')}`
  return found.kind === 'bad_path' ? broken(summary) : failed(summary)
}

function resultOf(subject: string, ending: ProcessEnding): CheckResult {
  if (ending.kind === 'not_started') return broken(`${subject}: could not be started: ${ending.message}`)
  const output = outputOf(ending)
  if (ending.kind === 'timed_out') return broken(`${subject}: ended after its time limit of ${ending.timeoutMs} ms`, output)
  if (ending.kind === 'signalled') return broken(`${subject}: ended by ${ending.signal}`, output)
  if (ending.kind === 'stopped') return broken(`${subject}: stopped before it ended`, output)
  return ending.code === 0 ? passed(`${subject}: exit code 0`, output) : failed(`${subject}: exit code ${ending.code}`, output)
}

/** Exactly what was printed; where both streams were used, a line stands between them. */
function outputOf({ stdout, stderr }: { stdout: string; stderr: string }): string {
  return stdout === '' || stderr === '' ? stdout + stderr : `${stdout}\n--- standard error ---\n${stderr}`
}
