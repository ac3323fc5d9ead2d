import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from './assay.ts'

/** Waits for something, long enough for a slow machine. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  const limit = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`waited in vain: ${what}`)
    await sleep(20)
  }
}

/** Waits for something that a running command does; a command that ends without it has failed, and says why. */
export async function whileRuns(running: Running, what: string, holds: () => boolean): Promise<void> {
  let ended: string | undefined
  void running.ended.then(({ code, signal, stderr }) => {
    ended = `the command ended (${code ?? signal}) before ${what}: ${stderr.slice(-1000)}`
  })
  await until(what, () => {
    if (ended !== undefined && !holds()) throw new Error(ended)
    return holds()
  })
}

/** Living processes whose command line or environment names the folder. Linux only; elsewhere none are found. */
export function processesOf(folder: string): { pid: number; command: string }[] {
  return pids().flatMap((pid) => {
    const command = proc(pid, 'cmdline')
    const named = command.includes(folder) || proc(pid, 'environ').includes(folder)
    return named && !isZombie(pid) ? [{ pid, command: command.replaceAll('\0', ' ') }] : []
  })
}

/** Resolves when no process of the folder is left. */
export async function noneLeft(folder: string): Promise<void> {
  await until(`no process of ${folder} is left`, () => processesOf(folder).length === 0, 15_000).catch(() => {
    throw new Error(`still alive: ${JSON.stringify(processesOf(folder))}`)
  })
}

/** Kills what a test left running. */
export async function endAllOf(folder: string): Promise<void> {
  await until('leftovers are gone', () => {
    const left = processesOf(folder)
    for (const { pid } of left) kill(pid)
    return left.length === 0
  })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function pids(): number[] {
  if (process.platform !== 'linux') return []
  const own = process.pid
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== own)
}

function isZombie(pid: number): boolean {
  const stat = proc(pid, 'stat')
  return stat === '' || /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
}

/** Empty where the process is gone or not ours. */
function proc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}
