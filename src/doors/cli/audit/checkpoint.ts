import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { makeCheckpoint } from '../../../engine/audit/checkpoint.ts'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { withEngine } from '../commands/task.ts'
import { say } from './list.ts'

/** `assay audit checkpoint`: where every stream stands, signed, to be kept somewhere else. */
export async function checkpointCommand(app: App, output: Output, flags: ConfigFlags & { out?: string }): Promise<ExitCode> {
  const keeping = await app.keeping(output.terminal)
  return withEngine(app, output, flags, async (engine) => {
    const made = await makeCheckpoint(engine.parts.journal, keeping.signer(), engine.parts.clock)
    if (!made.ok) {
      say(output, made.error)
      return 1
    }
    const { text, checkpoint } = made.value
    if (flags.out === undefined) output.data(output.json ? JSON.stringify({ kind: 'checkpoint', ...checkpoint, text }) : text.trimEnd())
    else writeWhole(resolve(output.terminal.cwd, flags.out), text)
    output.note(
      `Checkpoint of ${checkpoint.events} events in ${checkpoint.streams.length} chains${flags.out === undefined ? '' : ` in ${flags.out}`}. Keep it on another machine; check with: assay audit verify --checkpoint <file>`,
    )
    return 0
  })
}

/** `assay audit key`: the public half of the key that checkpoints and attestations are signed with. */
export async function keyCommand(app: App, output: Output): Promise<ExitCode> {
  const keeping = await app.keeping(output.terminal)
  const { publicKey, keyid } = keeping.signer()
  if (output.json) output.jsonLine({ kind: 'key', keyid, publicKey, pem: keeping.writeKey(publicKey) })
  else output.data(keeping.writeKey(publicKey).trimEnd())
  return 0
}

/** The whole text or, after a crash, what was there before. */
export function writeWhole(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}.draft`
  try {
    const file = openSync(draft, 'wx', 0o644)
    writeSync(file, text)
    fsyncSync(file)
    closeSync(file)
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}
