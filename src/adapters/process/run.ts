import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { readProcess } from './census/identity.ts'
import { openRun, type Run, runVariable } from './census/members.ts'
import { type Descriptors, openDescriptors } from './descriptors.ts'
import type { ProcessEnding, RunRequest } from './process.ts'
import { findProgram, type NotStarted } from './program.ts'
import { sandboxArguments, type SandboxState, sandboxState } from './sandbox.ts'
import { type StartedProcess, Supervisor } from './supervisor.ts'

/**
 * Runs one process to its end and ends everything that it started, however it ended.
 * Resolves when the process has ended, not when its output has been closed: a process left behind cannot hold it up.
 * Failure is data; a rejection is a bug.
 */
export async function runProcess(request: RunRequest): Promise<ProcessEnding> {
  const sandbox = request.sandbox === undefined ? undefined : await sandboxState()
  if (request.signal?.aborted) {
    const sandboxed = sandbox?.usable ?? false
    return { kind: 'stopped', stdout: '', stderr: '', stdoutCut: false, stderrCut: false, durationMs: 0, sandboxed, survivors: 0 }
  }
  const ending = await runOnce(request, sandbox)
  // A socket that was to be hidden can be gone by the time the sandbox is made; nothing ran then.
  return ending.kind === 'not_started' && ending.code === 'ESANDBOX' ? await runOnce(request, sandbox) : ending
}

async function runOnce(request: RunRequest, sandbox: SandboxState | undefined): Promise<ProcessEnding> {
  const command = commandOf(request)
  if ('kind' in command) return command
  const started =
    request.sandbox !== undefined && sandbox?.usable
      ? start(
          sandbox.program,
          sandboxArguments(sandbox.canCutNetwork ? request.sandbox : { ...request.sandbox, network: 'all' }, request.cwd, command, {
            env: request.env,
            reportsStatus: true,
          }),
          request,
          true,
        )
      : start(command[0], command.slice(1), request, false)
  if ('kind' in started) return started
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    started.child.once('error', resolve)
    started.child.once('spawn', () => resolve(undefined))
  })
  return failure === undefined ? await new Supervisor(started, request).ending() : notStarted(failure)
}

function commandOf(request: RunRequest): [file: string, ...args: string[]] | NotStarted {
  const [name = '', ...args] = request.argv
  const folder = statSync(request.cwd, { throwIfNoEntry: false })
  if (folder?.isDirectory() !== true)
    return { kind: 'not_started', code: 'ENOENT', message: `the working folder ${request.cwd} does not exist` }
  const program = findProgram(name, request.base ?? request.cwd, request.env.PATH ?? '')
  return 'kind' in program ? program : [program.file, ...args]
}

/** In a process group and session of its own, with no descriptor but the ones given here. */
function start(file: string, args: string[], request: RunRequest, sandboxed: boolean): StartedProcess | NotStarted {
  let run: Run
  let child: ChildProcess
  let descriptors: Descriptors | undefined
  try {
    run = openRun(sandboxed)
    descriptors = openDescriptors(request.stdin, sandboxed)
    const env = { ...request.env, [runVariable]: run.trail }
    child = spawn(file, args, { cwd: request.cwd, env, detached: true, stdio: descriptors.stdio })
  } catch (error) {
    return notStarted(error as NodeJS.ErrnoException)
  } finally {
    descriptors?.close()
  }
  // Before anything is awaited: until then even a process that has ended keeps its pid.
  const pid = child.pid ?? 0
  return { child, root: { ...run, pid, start: readProcess(pid)?.start ?? 0 }, sandboxed }
}

/** Spawning failed before there was a process: the system's code, or ours for arguments that no process can have. */
function notStarted(error: NodeJS.ErrnoException): NotStarted {
  const code = error.code === undefined || error.code.startsWith('ERR_') ? 'EINVAL' : error.code
  return { kind: 'not_started', code, message: error.message }
}
