import { execFile } from 'node:child_process'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { buildEnv } from './environment.ts'
import { findProgram } from './program.ts'

/** What a sandboxed process may do with files, as far as its user may. What lies deeper wins over what lies around it. */
export interface SandboxRequest {
  /** Files and folders that may be written. */
  writable: readonly string[]
  /** What may be done with files that are not named; `readable` unless told. */
  elsewhere?: 'readable' | 'writable'
  /** Parts of what is writable or hidden that are shown for reading only. */
  readOnly?: readonly string[]
  /** Files and folders that are not there for the process. */
  hidden?: readonly string[]
  /** `none`: no network but the process's own loopback, where the system lets us take it away. */
  network?: 'all' | 'none'
}

export type SandboxState = { usable: true; program: string; canCutNetwork: boolean } | { usable: false; reason: string }

/** Rights of root that would let a process look past its own mounts and processes. An ordinary user's process has none of them anyway. */
const droppedRights = [
  'SYS_ADMIN',
  'SYS_PTRACE',
  'SYS_MODULE',
  'SYS_RAWIO',
  'SYS_BOOT',
  'MKNOD',
  'DAC_READ_SEARCH',
  'BPF',
  'PERFMON',
  'SYSLOG',
]

let known: Promise<SandboxState> | undefined

/** Whether processes can be sandboxed here, found out once by doing it. */
export function sandboxState(): Promise<SandboxState> {
  known ??= probe()
  return known
}

async function probe(): Promise<SandboxState> {
  if (process.platform !== 'linux') return { usable: false, reason: 'the sandbox needs Linux' }
  const env = buildEnv()
  const bwrap = findProgram('bwrap', '/', env.PATH ?? '')
  if ('kind' in bwrap) return { usable: false, reason: 'bwrap is not installed (package bubblewrap)' }
  const works = (request: SandboxRequest): Promise<string | undefined> =>
    new Promise((resolve) => {
      const argv = sandboxArguments(request, '/', ['/bin/sh', '-c', 'exit 0'])
      execFile(bwrap.file, argv, { env, cwd: '/', timeout: 10_000, killSignal: 'SIGKILL' }, (error, _stdout, stderr) => {
        resolve(error === null ? undefined : stderr.trim() || error.message)
      })
    })
  const problem = await works({ writable: [] })
  if (problem !== undefined) return { usable: false, reason: `bwrap cannot be used here: ${problem}` }
  return { usable: true, program: bwrap.file, canCutNetwork: (await works({ writable: [], network: 'none' })) === undefined }
}

/** Where bwrap tells the pid of the sandbox's first process and the command's exit code; the command does not inherit it. */
export const statusFd = 3

/** Arguments for bwrap that run `command` in `cwd`: its own processes only, dead with its parent, files as requested. */
export function sandboxArguments(request: SandboxRequest, cwd: string, command: readonly string[], reportsStatus = false): string[] {
  return [
    ...[request.elsewhere === 'writable' ? '--bind' : '--ro-bind', '/', '/'],
    ...['--dev', '/dev', '--proc', '/proc', '--unshare-pid', '--die-with-parent'],
    ...(request.network === 'none' ? ['--unshare-net'] : []),
    ...droppedRights.flatMap((right) => ['--cap-drop', `CAP_${right}`]),
    ...mounts(request).flatMap((mount) => mount.args),
    ...(reportsStatus ? ['--json-status-fd', String(statusFd)] : []),
    ...['--chdir', realpathSync.native(cwd), '--', ...command],
  ]
}

/** Parents before what lies in them, so that a workspace shows through the folder that is hidden around it, and the other way round. */
function mounts(request: SandboxRequest): { path: string; args: string[] }[] {
  return [
    ...existing(request.writable).map((path) => ({ path, args: ['--bind', path, path] })),
    ...existing(request.readOnly ?? []).map((path) => ({ path, args: ['--ro-bind', path, path] })),
    ...existing(request.hidden ?? []).map((path) => ({ path, args: hide(path) })),
  ].sort((a, b) => depth(a.path) - depth(b.path))
}

/** A hidden file becomes a device that the sandbox does not let anybody open. */
function hide(path: string): string[] {
  return statSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]
}

function existing(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(path)).map((path) => realpathSync.native(path))
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length
}
