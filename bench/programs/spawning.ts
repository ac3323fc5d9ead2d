import { spawn } from 'node:child_process'
import { sandboxArguments, sandboxState } from '../../src/adapters/process/sandbox.ts'

export interface Spawning {
  cwd: string
  sandbox: boolean
  env?: Record<string, string>
}

/** A process as anybody would start it: no supervision, no limits, its output thrown away. Rejects unless it ends with 0. */
export async function spawned(command: readonly string[], { cwd, sandbox, env }: Spawning): Promise<void> {
  const state = await sandboxState()
  if (sandbox && !state.usable) throw new Error(state.reason)
  const [program = '', ...args] =
    sandbox && state.usable ? [state.program, ...sandboxArguments({ writable: [cwd] }, cwd, command)] : command
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, ...env } })
    child.stdout.resume()
    child.stderr.resume()
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`))))
  })
}

/** Calls `work` with 0, 1, … below `count`, so many at once. */
export async function inLanes(count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let n = next++; n < count; n = next++) await work(n)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}
