/** What a mission cannot do without, alone in a process of its own: `floor <folder> <floor as JSON>`. Prints its milliseconds. */
import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { timed } from '../measure.ts'
import { concurrency } from './project.ts'
import { inLanes, spawned } from './spawning.ts'

export type Floor =
  /** So many writes of so many bytes, each followed by a sync. */
  | { kind: 'syncs'; count: number; bytes: number }
  /** The processes of so many tasks, bare or in the same sandbox: one step after the other, all commands of a step at once. */
  | { kind: 'processes'; tasks: number; steps: string[][][]; sandbox: boolean }

function syncs(folder: string, count: number, bytes: number): void {
  const block = Buffer.alloc(bytes, 'x')
  const file = openSync(join(folder, 'raw.log'), 'a')
  for (let n = 0; n < count; n += 1) {
    writeSync(file, block)
    fdatasyncSync(file)
  }
  closeSync(file)
}

function processes(folder: string, { tasks, steps, sandbox }: Extract<Floor, { kind: 'processes' }>): Promise<void> {
  return inLanes(tasks, concurrency, async (n) => {
    const cwd = join(folder, `task-${n}`)
    mkdirSync(cwd)
    for (const commands of steps) {
      await Promise.all(commands.map((command) => spawned(command, { cwd, sandbox, env: { ASSAY_TASK: `task-${n}` } })))
    }
  })
}

const [folder = '', text = ''] = process.argv.slice(2)
const floor = JSON.parse(text) as Floor
const ms = await timed(() => (floor.kind === 'syncs' ? syncs(folder, floor.count, floor.bytes) : processes(folder, floor)))
console.log(JSON.stringify(ms))
