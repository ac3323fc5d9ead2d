import type { IOType } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const closeOnExec = 0o2000000
const { O_RDWR, O_DIRECTORY = 0 } = constants
/** Linux only; Node does not name it. Opened with it, a folder gives a new file in it that has no name. */
const O_TMPFILE = 0o20000000 | O_DIRECTORY

let strays: number[] | undefined

export interface Descriptors {
  stdio: (IOType | number)[]
  /** Once the process has been started. */
  close: () => void
}

/**
 * What a process gets open: input, two outputs, one more output where `extra` asks for it, and nothing else.
 * Descriptors that this process was itself started with would be handed on; `/dev/null` takes their places.
 */
export function openDescriptors(input: string | undefined, extra: boolean): Descriptors {
  const opened: number[] = []
  const stdio: (IOType | number)[] = ['ignore', 'pipe', 'pipe', ...(extra ? (['pipe'] as const) : [])]
  if (input !== undefined) {
    const fd = openInput(input)
    opened.push(fd)
    stdio[0] = fd
  }
  strays ??= strayDescriptors()
  const covered = strays.filter((fd) => fd >= stdio.length)
  if (covered.length > 0) {
    const nothing = openSync('/dev/null', 'r+')
    opened.push(nothing)
    for (const fd of covered) {
      while (stdio.length < fd) stdio.push('ignore')
      stdio[fd] = nothing
    }
  }
  const close = (): void => {
    for (const fd of opened) closeSync(fd)
  }
  return { stdio, close }
}

/**
 * Standard input as a file that has no name. Unlike a pipe it never blocks or breaks when the process does not read it, and a process can open
 * `/dev/stdin` by name; nobody else can open it, not even who may write among temporary files.
 */
function openInput(text: string): number {
  const written = openNameless()
  if (written === undefined) return openUnlinked(text)
  try {
    writeFileSync(written, text)
    return openSync(`/proc/self/fd/${written}`, 'r')
  } finally {
    closeSync(written)
  }
}

/** Undefined where the system, or the file system of temporary files, has no such files. */
function openNameless(): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return openSync(tmpdir(), O_TMPFILE | O_RDWR, 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EOPNOTSUPP' || code === 'EISDIR' || code === 'EINVAL') return undefined
    throw error
  }
}

/** The next best: a file that keeps its name for a moment only. */
function openUnlinked(text: string): number {
  const file = join(tmpdir(), `assay-input-${randomUUID()}`)
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  try {
    return openSync(file, 'r')
  } finally {
    unlinkSync(file)
  }
}

/** Whatever Node opens itself is closed in new processes; what is not was there before Node. In ascending order; Linux only. */
function strayDescriptors(): number[] {
  if (process.platform !== 'linux') return []
  const fds = readdirSync('/proc/self/fd').map(Number)
  return fds.filter((fd) => fd > 2 && isHandedOn(fd)).sort((a, b) => a - b)
}

function isHandedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch (error) {
    // The descriptor that the listing itself used.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
