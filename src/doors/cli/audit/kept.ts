import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Checkpoint } from '../../../contract/attest/checkpoint.ts'
import type { Result } from '../../../contract/errors.ts'
import { formatProblem } from '../../../contract/source/problem.ts'
import { openCheckpoint } from '../../../engine/audit/checkpoint.ts'
import type { Keeping } from '../../../engine/keep/keeping.ts'
import type { Output } from '../output.ts'
import { type ConfigFlags, readText } from '../project.ts'

export interface CheckpointFlags extends ConfigFlags {
  checkpoint?: string
  key?: string
}

/** Largest file of somebody else's that is read whole. */
const maxBytes = 512 * 1024 * 1024

/** The text of a file that the user named. */
export function namedText(output: Output, file: string): Result<string, string> {
  const path = resolve(output.terminal.cwd, file)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat && stat.size > maxBytes) return { ok: false, error: `${file} is larger than ${maxBytes} bytes: it is not read` }
  const read = readText(path, file)
  return read.ok ? read : { ok: false, error: read.error.map(formatProblem).join('; ') }
}

/** The public key to check with: the one that was named, else the own one. */
export function chosenKey(output: Output, keeping: Keeping, file: string | undefined): Result<string, string> {
  if (file !== undefined) {
    const text = namedText(output, file)
    if (!text.ok) return text
    const key = keeping.readKey(text.value)
    return key === undefined ? { ok: false, error: `${file} holds no Ed25519 public key (PEM)` } : { ok: true, value: key }
  }
  const own = keeping.ownKey()
  if (own !== undefined) return { ok: true, value: own }
  return { ok: false, error: 'there is no key of your own here; name the public key to check with: --key <file>' }
}

/** The checkpoint that was named, its signature checked first; undefined where none was. */
export function keptCheckpoint(output: Output, keeping: Keeping, flags: CheckpointFlags): Result<Checkpoint | undefined, string> {
  if (flags.checkpoint === undefined) return { ok: true, value: undefined }
  const text = namedText(output, flags.checkpoint)
  if (!text.ok) return text
  const key = chosenKey(output, keeping, flags.key)
  if (!key.ok) return key
  const opened = openCheckpoint(text.value, key.value, keeping.check)
  return opened.ok ? opened : { ok: false, error: `${flags.checkpoint}: ${opened.error}` }
}
