import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, inject, onTestFinished } from 'vitest'

let home = ''

/** Says that the tests of a file run the command line as it is published. */
export function useAssay(): void {
  beforeAll(() => {
    home = inject('assayHome')
  })
}

export interface StartOptions {
  cwd: string
  env?: Record<string, string>
  /** Program and arguments to run it under, such as `strace`. */
  under?: string[]
  /** What it reads from standard input; nothing without it. */
  input?: string
  /** Flags for Node itself. */
  nodeFlags?: string[]
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Running {
  child: ChildProcess
  pid: number
  stdout(): string
  stderr(): string
  ended: Promise<Ended>
}

/** Room for young objects from the beginning: thousands of short commands spend a seventh less of the processor. */
const quickStart = '--min-semi-space-size=16'

/** Program and arguments that run `assay` with these arguments. */
export function assayCommand(args: readonly string[], nodeFlags: readonly string[] = []): string[] {
  return [process.execPath, quickStart, ...nodeFlags, join(home, 'bin', 'assay.mjs'), ...args]
}

/** Nothing of this process's settings reaches the command but what programs need to run at all. */
export function plainEnv(folder: string): Record<string, string> {
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary, { recursive: true })
  return { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: temporary, ASSAY_SANDBOX_WRITABLE: temporary, LANG: 'C.UTF-8' }
}

/** Starts `assay`. It is killed after the test if it still lives. */
export function startAssay(args: readonly string[], { cwd, env = {}, under = [], nodeFlags = [], input }: StartOptions): Running {
  const [command = '', ...rest] = [...under, ...assayCommand(args, nodeFlags)]
  const child = spawn(command, rest, { cwd, env: { ...plainEnv(cwd), ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  // Whoever reads nothing of it ends before it is written.
  child.stdin.on('error', () => undefined).end(input)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ended>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, stdout, stderr: error.message }))
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended
  })
  return { child, pid: child.pid ?? 0, stdout: () => stdout, stderr: () => stderr, ended }
}

/** Files into a folder, folders made as needed; scripts (`#!`) are made executable. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const place = join(folder, path)
    mkdirSync(join(place, '..'), { recursive: true })
    writeFileSync(place, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 })
  }
}
