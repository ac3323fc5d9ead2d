/** So many runs of one command: `runner <folder> <runs as JSON>`. Prints milliseconds. */
import { buildEnv } from '../../src/adapters/process/environment.ts'
import { runProcess } from '../../src/adapters/process/run.ts'
import { timed } from '../measure.ts'
import { inLanes, spawned } from './spawning.ts'

export interface Runs {
  /** A bare spawn, or Assay's own runner. */
  by: 'spawn' | 'runner'
  sandbox: boolean
  command: string[]
  count: number
  atOnce: number
}

async function supervised(command: readonly string[], cwd: string, sandbox: boolean): Promise<void> {
  const ending = await runProcess({
    argv: command,
    cwd,
    env: buildEnv(),
    timeoutMs: 60_000,
    maxOutputBytes: 1024 * 1024,
    killGraceMs: 5_000,
    ...(sandbox && { sandbox: { writable: [cwd] } }),
  })
  const fine = ending.kind === 'exited' && ending.code === 0 && ending.sandboxed === sandbox
  if (!fine) throw new Error(JSON.stringify(ending))
}

const [folder = '', text = ''] = process.argv.slice(2)
const { by, sandbox, command, count, atOnce } = JSON.parse(text) as Runs
const run = () => (by === 'spawn' ? spawned(command, { cwd: folder, sandbox }) : supervised(command, folder, sandbox))
// The first run finds out about the sandbox and is not counted.
await run()
console.log(JSON.stringify(await timed(() => inLanes(count, atOnce, run))))
