/** What a mission cannot do without, alone in a process of its own: `mission-floor.ts <folder> <floor as JSON>`. Prints its milliseconds. */
import { spawn } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sandboxArguments, sandboxState } from '../src/adapters/process/sandbox.ts'
import { timed } from './measure.ts'
import { concurrency, judgeScript, judges, workerScript } from './mission-project.ts'

export type Floor =
  /** So many writes of so many bytes, each followed by a sync. */
  | { kind: 'syncs'; count: number; bytes: number }
  /** The worker's and the judges' processes of so many tasks, bare or in the same sandbox. */
  | { kind: 'spawns'; tasks: number; sandbox: boolean }

function syncs(folder: string, count: number, bytes: number): void {
  const block = Buffer.alloc(bytes, 'x')
  const file = openSync(join(folder, 'raw.log'), 'a')
  for (let n = 0; n < count; n += 1) {
    writeSync(file, block)
    fdatasyncSync(file)
  }
  closeSync(file)
}

async function spawns(folder: string, tasks: number, sandbox: boolean): Promise<void> {
  const state = await sandboxState()
  if (sandbox && !state.usable) throw new Error(state.reason)
  const run = (script: string) => {
    const command = ['/bin/sh', '-c', script]
    const [program = '', ...args] =
      sandbox && state.usable ? [state.program, ...sandboxArguments({ writable: [folder] }, folder, command)] : command
    return finished(program, args, folder)
  }
  let left = tasks
  const lane = async () => {
    while (left > 0) {
      left -= 1
      await run(workerScript)
      await Promise.all(Array.from({ length: judges }, () => run(judgeScript)))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
}

function finished(program: string, args: string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.resume()
    child.stderr.resume()
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`))))
  })
}

const [folder = '', text = ''] = process.argv.slice(2)
const floor = JSON.parse(text) as Floor
const ms = await timed(() =>
  floor.kind === 'syncs' ? syncs(folder, floor.count, floor.bytes) : spawns(folder, floor.tasks, floor.sandbox),
)
console.log(JSON.stringify(ms))
