import { spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Digest } from '../../contract/canonical.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { tempFolder } from '../snapshot-suite/trees.ts'

export interface StepOrder {
  projectRoot: string
  task: TaskSpec
  step: 'open' | 'close' | 'prepare' | 'publish' | 'catchUp' | 'land'
  /** The git program. */
  git?: string
  content?: { snapshot: Digest; base: Digest }
  merge?: { commit: string; onto: string }
}

export interface StepEnding {
  signal: string | null
  code: number | null
  /** What it printed, read as JSON; undefined where it printed nothing. */
  answer: unknown
  errors: string
}

/** Runs one step in another process, which may be killed after some time. */
export function runStep(order: StepOrder, killAfterMs?: number): Promise<StepEnding> {
  const script = fileURLToPath(new URL('./step.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  let [output, errors] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ signal, code, answer: output.endsWith('\n') ? JSON.parse(output) : undefined, errors })
    })
  })
}

/** A git that works, and kills the process that called it after its n-th call, or before it: then it goes on alone. */
export function killingGit(call: number, when: 'before' | 'after' = 'after'): string {
  const folder = tempFolder()
  const program = join(folder, 'git')
  const script = `#!/bin/sh
echo >> '${folder}/calls'
kills() { if [ ${when} = "$1" ] && [ "$(wc -l < '${folder}/calls')" -ge ${call} ]; then kill -9 $PPID; fi; }
kills before
git "$@"
code=$?
kills after
exit $code
`
  writeFileSync(program, script)
  chmodSync(program, 0o755)
  return program
}
