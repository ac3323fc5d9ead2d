import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** One process for good: a pid alone is given to another process later. `start` is the kernel's start time in ticks since boot. */
export interface ProcessIdentity {
  pid: number
  start: number
}

export interface ProcessEntry extends ProcessIdentity {
  /** Ended, and not yet taken note of by its parent. */
  zombie: boolean
  parent: number
  group: number
  session: number
}

/** Where the kernel shows processes; Linux only. */
export const systemProc = '/proc'

/** The process with this pid; undefined where there is none or the system has no `/proc`. */
export function readProcess(pid: number, proc = systemProc): ProcessEntry | undefined {
  const stat = readOrUndefined(`${proc}/${pid}/stat`)
  if (stat === undefined) return undefined
  // The name in parentheses may itself hold parentheses, spaces and newlines.
  const text = stat.toString('latin1')
  const [state, parent, group, session, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const zombie = state === 'Z' || state === 'X'
  return { pid, start: Number(rest[15]), zombie, parent: Number(parent), group: Number(group), session: Number(session) }
}

/** The pids there are; none where the system has no `/proc`. */
export function listPids(proc = systemProc): number[] {
  try {
    return readdirSync(proc)
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

export function isAlive(identity: ProcessIdentity, proc = systemProc): boolean {
  const entry = readProcess(identity.pid, proc)
  return entry !== undefined && !entry.zombie && entry.start === identity.start
}

/** The value of a variable in the environment that a process was started with; undefined where it has none or may not be looked at. */
export function startVariable(pid: number, name: string, proc = systemProc): string | undefined {
  const prefix = `${name}=`
  const environ = readOrUndefined(`${proc}/${pid}/environ`)
  if (environ === undefined || !environ.includes(prefix)) return undefined
  const entries = environ.toString('latin1').split('\0')
  return entries.find((entry) => entry.startsWith(prefix))?.slice(prefix.length)
}

/** Tells containers that see each other's processes apart: pids of another namespace mean nothing here. `0` where there are none. */
export function pidNamespace(proc = systemProc): string {
  try {
    return /\d+/.exec(readlinkSync(`${proc}/self/ns/pid`))?.[0] ?? '0'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '0'
    throw error
  }
}

/** Sends a signal to exactly this process, if it still lives. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (isAlive(identity)) sendSignal(identity.pid, signal)
}

/** Sends a signal to a pid, or to a group by its negative; false where there is no such process or it is not ours. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}

/** A process may vanish between being listed and being read, and others' may not be read: both are no answer, not a failure. */
function readOrUndefined(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return undefined
    throw error
  }
}
