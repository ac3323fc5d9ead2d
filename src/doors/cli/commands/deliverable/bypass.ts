import type { App, ExitCode } from '../../app.ts'
import { oneLine, type Output } from '../../output.ts'
import type { ConfigFlags } from '../../project.ts'
import { unknown } from './deliverable.ts'
import { say, withOwner } from './owner.ts'

/** `assay bypass <deliverable>`: the owner waives the review of exactly the bytes that were brought last. */
export async function bypassCommand(app: App, output: Output, id: string, flags: ConfigFlags & { reason: string }): Promise<ExitCode> {
  return withOwner(app, output, flags, async (engine, by) => {
    const waived = await engine.bypass(id, { by, reason: flags.reason })
    if (!waived.ok) return say(output, waived.error.code === 'not_found' ? unknown(id) : waived.error.message)
    const granted = waived.value.bypasses.at(-1)
    if (!granted) throw new Error(`the bypass of ${id} was not recorded`)
    output.note(
      `WARN: ${by} waived the review of ${id}, for ${granted.digest} alone, until ${granted.until}: ${oneLine(flags.reason, 300)}. Its card stays marked UNREVIEWED`,
    )
    if (output.json) output.jsonLine({ kind: 'bypassed', ...granted })
    else output.data(`${id}: review waived by ${by} until ${granted.until}`)
    output.note(`Next: assay deliverable send ${id}`)
    return 0
  })
}
