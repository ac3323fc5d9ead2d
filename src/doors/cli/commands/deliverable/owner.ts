import type { Engine } from '../../../../engine/engine.ts'
import type { App, ExitCode } from '../../app.ts'
import type { Output } from '../../output.ts'
import { notTheOwner } from '../../owner.ts'
import type { ConfigFlags } from '../../project.ts'
import { withEngine } from '../task.ts'

/** Opens the engine for somebody who may speak for the owner, and for nobody else. */
export async function withOwner(
  app: App,
  output: Output,
  flags: ConfigFlags,
  use: (engine: Engine, by: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  const authority = await app.authority(output.terminal)
  if (!authority.ok) return say(output, authority.message)
  return withEngine(app, output, flags, async (engine) =>
    (await engine.isOwner(authority.token)) ? use(engine, authority.by) : say(output, notTheOwner),
  )
}

export function say(output: Output, message: string, code: ExitCode = 2): ExitCode {
  if (output.json) output.jsonLine({ kind: 'error', message })
  output.note(`assay: ${message}`)
  return code
}
