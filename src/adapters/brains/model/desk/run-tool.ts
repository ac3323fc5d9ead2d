import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildEnv } from '../../../process/environment.ts'
import type { ProcessEnding } from '../../../process/process.ts'
import { runProcess } from '../../../process/run.ts'
import { type Premises, sandboxOn } from '../../premises.ts'

/** Most bytes shown of each of the two outputs; the middle is left out, and said so. */
const shownBytes = 12 * 1024

export interface Shop {
  premises: Premises
  workspace: string
  /** Private folder of this turn, made when it is first needed. */
  folder: () => string
}

export interface Command {
  argv: readonly string[]
  timeoutMs: number
}

/** Runs a program in the workspace, sandboxed where that is possible. `stopped` is not an answer: the signal ended it in the middle. */
export async function runCommand(shop: Shop, command: Command, signal: AbortSignal): Promise<{ text: string } | 'stopped'> {
  const folder = shop.folder()
  const temporary = join(folder, 'tmp')
  await mkdir(temporary, { recursive: true })
  const ending = await runProcess({
    argv: command.argv,
    cwd: shop.workspace,
    env: buildEnv({ extra: { TMPDIR: temporary } }),
    timeoutMs: command.timeoutMs,
    maxOutputBytes: shownBytes,
    killGraceMs: shop.premises.killGraceMs ?? 5_000,
    signal,
    sandbox: sandboxOn(shop.premises, folder, { writable: [shop.workspace] }),
  })
  return ending.kind === 'stopped' ? 'stopped' : { text: told(ending) }
}

function told(ending: Exclude<ProcessEnding, { kind: 'stopped' }>): string {
  if (ending.kind === 'not_started') return `It could not be started: ${ending.message}`
  const parts = [howItEnded(ending)]
  if (ending.stdout !== '') parts.push(`standard output:\n${ending.stdout}`)
  if (ending.stderr !== '') parts.push(`standard error:\n${ending.stderr}`)
  return parts.length === 1 ? `${parts[0]}, nothing was printed` : parts.join('\n')
}

function howItEnded(ending: Exclude<ProcessEnding, { kind: 'stopped' | 'not_started' }>): string {
  if (ending.kind === 'exited') return `exit code ${ending.code}`
  return ending.kind === 'signalled'
    ? `ended by ${ending.signal}`
    : `ended after its time limit of ${Math.round(ending.timeoutMs / 1_000)} s`
}
