import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IOType } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const closeOnExec = 0o2000000

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
 * Standard input as a file that has no name any more. Unlike a pipe it never blocks or breaks when the process does not read it,
 * and a process can open `/dev/stdin` by name.
 */
function openInput(text: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'assay-input-'))
  try {
    writeFileSync(join(folder, 'stdin'), text, { mode: 0o600 })
    return openSync(join(folder, 'stdin'), 'r')
  } finally {
    rmSync(folder, { recursive: true, force: true })
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
