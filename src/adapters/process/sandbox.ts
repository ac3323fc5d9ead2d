import { execFile } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { buildEnv, pathOutside } from './environment.ts'
import { findProgram } from './program.ts'
import { isWithin, namedPaths, ownersFolders, privatePlaces, socketsOfOthers } from './surroundings.ts'

/**
 * What a sandboxed process may do with files, as far as its user may. What lies deeper wins over what lies around it.
 * Places where programs of a machine meet (/tmp, /run) are empty and its own, but for what is named here or by its environment.
 */
export interface SandboxRequest {
  /** Files and folders that may be written. */
  writable: readonly string[]
  /** What may be done with files that are not named; `readable` unless told. */
  elsewhere?: 'readable' | 'writable'
  /** Parts of what is writable or hidden that are shown for reading only. */
  readOnly?: readonly string[]
  /** Files and folders that are not there for the process. */
  hidden?: readonly string[]
  /** Folders that a program keeps its own things in, of which it sees only some; what it makes there besides is thrown away. */
  kept?: readonly KeptFolder[]
  /** Files in whose place the process sees and changes another one. */
  replaced?: readonly { path: string; by: string }[]
  /** `none`: no network but the process's own loopback, where the system lets us take it away. */
  network?: 'all' | 'none'
}

export interface KeptFolder {
  folder: string
  /** Names in it that may be written, and that may be read. */
  writable: readonly string[]
  readable: readonly string[]
}

export type SandboxState = { usable: true; program: string; canCutNetwork: boolean } | { usable: false; reason: string }

/**
 * What root keeps of its rights, by their number: what builds do with files and processes of their own. Everything else (the clock, the network's settings,
 * files made immutable, other mounts) reaches past the sandbox. An ordinary user's process has none of them anyway.
 */
const keptRights: readonly [right: string, bit: number][] = [
  ['CHOWN', 0],
  ['DAC_OVERRIDE', 1],
  ['FOWNER', 3],
  ['FSETID', 4],
  ['KILL', 5],
  ['SETGID', 6],
  ['SETUID', 7],
  // The system asks for it where root makes a namespace of its own, as coding agents do for what they run. Nobody gains rights from a file here.
  ['SETFCAP', 31],
]

let rightsArguments: string[] | undefined

/** Only rights that this process has can be given on: asked for another, bwrap would take none away. */
function rights(): string[] {
  if (rightsArguments) return rightsArguments
  const own = process.getuid?.() === 0 ? (/^CapPrm:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0') : '0'
  const kept = keptRights.filter(([, bit]) => ((BigInt(`0x${own}`) >> BigInt(bit)) & 1n) === 1n)
  rightsArguments = ['--cap-drop', 'ALL', ...kept.flatMap(([right]) => ['--cap-add', `CAP_${right}`])]
  return rightsArguments
}

let known: Promise<SandboxState> | undefined

/** Whether processes can be sandboxed here, found out once by doing it. */
export function sandboxState(): Promise<SandboxState> {
  known ??= probe()
  return known
}

async function probe(): Promise<SandboxState> {
  if (process.platform !== 'linux') return { usable: false, reason: 'the sandbox needs Linux' }
  const env = buildEnv()
  const bwrap = findProgram('bwrap', '/', pathOutside(env.PATH ?? '', process.cwd()))
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

/**
 * Arguments for bwrap that run `command` in `cwd`: its own processes only, dead with its parent, files as requested, nobody else's sockets or shared memory.
 * It has no terminal to write into either: whoever starts it puts it in a session of its own.
 */
export function sandboxArguments(
  request: SandboxRequest,
  cwd: string,
  command: readonly string[],
  { env = {}, reportsStatus = false }: { env?: Readonly<Record<string, string>>; reportsStatus?: boolean } = {},
): string[] {
  const places = privatePlaces()
  return [
    ...[showing(request), '/', '/'],
    ...['--dev', '/dev', '--proc', '/proc', '--unshare-pid', '--unshare-ipc', '--die-with-parent'],
    ...(request.network === 'none' ? ['--unshare-net'] : []),
    ...rights(),
    ...mounts(request, places, namedPaths(env, command, cwd, places)).flatMap((mount) => mount.args),
    ...(reportsStatus ? ['--json-status-fd', String(statusFd)] : []),
    ...['--chdir', realpathSync.native(cwd), '--', ...command],
  ]
}

/** How files are shown that the request does not name. */
function showing({ elsewhere }: SandboxRequest): string {
  return elsewhere === 'writable' ? '--bind' : '--ro-bind'
}

interface Mount {
  path: string
  args: string[]
}

/** Parents before what lies in them, so that a workspace shows through the folder that is hidden around it, and the other way round. */
function mounts(request: SandboxRequest, places: readonly string[], named: readonly string[]): Mount[] {
  const hidden = existing(request.hidden ?? [])
  const asked = [
    ...existing([...request.writable, ...ownersFolders()]).map((path) => ({ path, args: ['--bind', path, path] })),
    ...existing(request.readOnly ?? []).map((path) => ({ path, args: ['--ro-bind', path, path] })),
    ...hidden.map((path) => ({ path, args: hide(path) })),
    ...(request.kept ?? []).flatMap(keep),
    ...(request.replaced ?? []).map((file) => replace(file, request.kept ?? [])),
  ]
  const isAsked = (path: string, place: string) => asked.some((mount) => isWithin(place, mount.path) && isWithin(mount.path, path))
  const shown = named.filter((path) => places.some((place) => path !== place && isWithin(place, path) && !isAsked(path, place)))
  const seen = [...asked.filter(({ path }) => !hidden.includes(path)).map(({ path }) => path), ...shown]
  return [
    ...places.map((path) => ({ path, args: ['--tmpfs', path] })),
    ...shown.map((path) => ({ path, args: [showing(request), path, path] })),
    ...asked,
    ...socketsOfOthers()
      .filter((socket) => !shown.includes(socket) && isSeen(resolve(socket), [...places, ...hidden], seen))
      .map((path) => ({ path, args: hide(path) })),
  ].sort((a, b) => depth(a.path) - depth(b.path))
}

/** Whether a path is there for the process: nothing around it is out of sight, or something in between is shown again. */
function isSeen(path: string, out: readonly string[], shown: readonly string[]): boolean {
  const deepest = (folders: readonly string[]) => Math.max(-1, ...folders.filter((folder) => isWithin(folder, path)).map(depth))
  return deepest(shown) >= deepest(out)
}

/** A name that is a link leads to what it means: the link itself is the person's. */
function keep({ folder, writable, readable }: KeptFolder): Mount[] {
  if (!existsSync(folder)) return []
  const path = realpathSync.native(folder)
  const within = (names: readonly string[], how: string): Mount[] =>
    names
      .map((name) => join(path, name))
      .filter((entry) => existsSync(entry))
      .map((entry) => ({ path: entry, args: [how, realpathSync.native(entry), entry] }))
  return [{ path, args: ['--tmpfs', path] }, ...within(writable, '--bind'), ...within(readable, '--ro-bind')]
}

/** In a kept folder the place itself, elsewhere what it leads to. */
function replace({ path, by }: { path: string; by: string }, kept: readonly KeptFolder[]): Mount {
  const within = kept.some(({ folder }) => dirname(path) === folder)
  const place = within ? join(realpathSync.native(dirname(path)), basename(path)) : realpathSync.native(path)
  return { path: place, args: ['--bind', by, place] }
}

/** A hidden file becomes a device that the sandbox does not let anybody open. */
function hide(path: string): string[] {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]
}

function existing(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(path)).map((path) => realpathSync.native(path))
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length
}
