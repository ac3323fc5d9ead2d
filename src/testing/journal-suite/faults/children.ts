import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('./child.ts', import.meta.url))

export interface Child {
  pid: number
  /** What it said, so far. */
  said: Record<string, unknown>[]
  /** The next line that passes; rejects when the process ends without one. */
  hears(passes: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>
  tell(): void
  kill(signal: NodeJS.Signals): void
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; errors: string }>
}

export interface ChildTask {
  adapter: string
  place: string
  task: string
  options?: Record<string, unknown>
  /** Program and arguments to run it under, such as `strace`. */
  under?: string[]
  /** Flags for Node itself. */
  nodeFlags?: string[]
}

/** Starts a process on a journal. It is killed after the test if it still lives. */
export function startChild({ adapter, place, task, options = {}, under = [], nodeFlags = [] }: ChildTask): Child {
  const [command = '', ...args] = [...under, process.execPath, ...nodeFlags, program, adapter, place, task, JSON.stringify(options)]
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...env, NODE_NO_WARNINGS: '1' } })
  child.stdin.on('error', () => undefined)
  const ended = endOf(child)
  onTestFinished(async () => {
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await ended
  })
  const said: Record<string, unknown>[] = []
  const listeners = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(JSON.parse(line))
    for (const listener of [...listeners]) listener()
  })
  const hears: Child['hears'] = (passes) =>
    new Promise((resolve, reject) => {
      let heard = 0
      const look = () => {
        for (; heard < said.length; heard += 1) {
          const line = said[heard]
          if (line === undefined || !passes(line)) continue
          listeners.delete(look)
          resolve(line)
          return
        }
      }
      listeners.add(look)
      look()
      void ended.then(({ code, signal, errors }) => reject(new Error(`the process ended (${code ?? signal}) before it said so: ${errors}`)))
    })
  return { pid: child.pid ?? 0, said, hears, tell: () => child.stdin.write('go\n'), kill: (signal) => child.kill(signal), ended }
}

function endOf(child: ChildProcess): Child['ended'] {
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors = (errors + chunk).slice(-4000)
  })
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 127, signal: null, errors: error.message }))
    child.once('close', (code, signal) => resolve({ code, signal, errors }))
  })
}
