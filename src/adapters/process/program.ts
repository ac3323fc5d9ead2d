import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'

/** Nothing ran: proven before any process had begun. */
export interface NotStarted {
  kind: 'not_started'
  /** `ENOENT`, `EACCES`, `EAGAIN`… as the system names it; `EINVAL` for arguments no process can have; `ESANDBOX` where the sandbox failed. */
  code: string
  message: string
}

/** Which file a program's name means. `base` is where a relative name with a slash starts, `path` the PATH that a bare name is looked up in. */
export function findProgram(name: string, base: string, path: string): { file: string } | NotStarted {
  if (name === '') return refuse('ENOENT', 'the program has no name')
  const named = name.includes('/')
  // An empty or relative entry of PATH would mean the working folder, which the worker fills.
  const candidates = named
    ? [resolve(base, name)]
    : path
        .split(':')
        .filter(isAbsolute)
        .map((folder) => join(folder, name))
  let forbidden: string | undefined
  for (const file of candidates) {
    const state = stateOf(file)
    if (state === 'runnable') return interpreterProblem(file) ?? { file }
    // A folder of PATH that may not be entered is passed by, as shells do.
    if (state === 'forbidden' || (named && state === 'unreachable')) forbidden ??= file
  }
  if (forbidden !== undefined) return refuse('EACCES', `${forbidden} is not an executable file`)
  if (!named) return refuse('ENOENT', `${name} is not found in PATH`)
  return refuse('ENOENT', isAbsolute(name) ? `${name} does not exist` : `${candidates[0]} does not exist (${name} is relative to ${base})`)
}

function stateOf(file: string): 'runnable' | 'forbidden' | 'unreachable' | 'absent' {
  try {
    // Most folders of PATH do not have it: that is no error to be built with its stack.
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) return 'absent'
    if (!stat.isFile()) return 'forbidden'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'unreachable' : 'absent'
  }
  try {
    accessSync(file, constants.X_OK)
    return 'runnable'
  } catch {
    return 'forbidden'
  }
}

/** A script whose interpreter is missing fails with a misleading "no such file", or inside a sandbox only after it was set up. */
function interpreterProblem(file: string): NotStarted | undefined {
  const interpreter = /^#![ \t]*([^ \t\n]+)/.exec(firstBytes(file))?.[1]
  if (interpreter === undefined || stateOf(interpreter) === 'runnable') return undefined
  const crlf = interpreter.endsWith('\r') ? '; its first line ends in a carriage return, which belongs to the name' : ''
  return refuse('ENOENT', `${file} asks for the interpreter ${interpreter.replace('\r', '')}, which cannot be run${crlf}`)
}

/** How a program begins. Empty where the file may be run but not read: then the system has the last word. */
export function firstBytes(file: string): string {
  let fd: number
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return ''
  }
  const start = Buffer.alloc(256)
  const length = readSync(fd, start)
  closeSync(fd)
  return start.toString('latin1', 0, length)
}

function refuse(code: string, message: string): NotStarted {
  return { kind: 'not_started', code, message }
}
