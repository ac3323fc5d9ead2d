import { loadDeliverable } from '../../../../engine/deliverables/store.ts'
import type { Engine } from '../../../../engine/engine.ts'
import type { App, ExitCode } from '../../app.ts'
import { oneLine, type Output } from '../../output.ts'
import type { ConfigFlags } from '../../project.ts'
import { latestBytes } from './bytes.ts'
import { unknown } from './deliverable.ts'
import { say, withOwner } from './owner.ts'

/** `assay deliverable free <id>`: the owner takes an id away from whoever has it. */
export async function freeCommand(app: App, output: Output, id: string, flags: ConfigFlags & { reason: string }): Promise<ExitCode> {
  return withOwner(app, output, flags, async (engine, by) => {
    const freed = await engine.freeDeliverable(id, { by, reason: flags.reason })
    if (!freed.ok) return say(output, freed.error.code === 'not_found' ? unknown(id) : freed.error.message)
    if (output.json) output.jsonLine({ kind: 'freed', deliverable: id, by })
    else output.data(`${id}: free, by ${by}: whoever brings something under it next has it`)
    output.note(`Next: ${await afterFreed(engine, id)}`)
    return 0
  })
}

/** Whoever could not hand over under it has done so, or does when its run goes on; else it waits for somebody who brings something. */
async function afterFreed(engine: Engine, id: string): Promise<string> {
  const { state } = await loadDeliverable(engine.parts, id)
  if (!state || state.freed) return `assay review <path> --deliverable ${id} --producer <who>`
  const mission = state.latest.task.split('/')[0] ?? ''
  const isOpen = (await engine.missions()).some((row) => row.id === mission && row.finished === undefined)
  return isOpen ? `assay resume ${mission}` : `assay inbox --search ${id}`
}

type BypassFlags = ConfigFlags & { reason: string; digest?: string }

/** `assay bypass <deliverable>`: the owner waives the review of exactly the bytes that were brought last. */
export async function bypassCommand(app: App, output: Output, id: string, flags: BypassFlags): Promise<ExitCode> {
  return withOwner(app, output, flags, async (engine, by) => {
    const { reason, digest } = flags
    const waived = await engine.bypass(id, { by, reason, ...(digest !== undefined && { digest }) })
    if (!waived.ok) return say(output, waived.error.code === 'not_found' ? unknown(id) : waived.error.message)
    const last = waived.value.bypasses.at(-1)
    if (!last) throw new Error(`the bypass of ${id} was not recorded`)
    const { version: _version, ...granted } = last
    const bytes = await latestBytes(engine, id)
    output.note(
      `WARN: ${by} waived the review of ${id}, for ${bytes?.words ?? granted.digest} alone, until ${granted.until}: ${oneLine(reason, 300)}. Its card stays marked UNREVIEWED`,
    )
    if (output.json) output.jsonLine({ kind: 'bypassed', ...granted, ...(bytes && { size: bytes.size, brought: bytes.at }) })
    else output.data(`${id}: review waived by ${by} until ${granted.until}, for ${bytes?.words ?? granted.digest}`)
    output.note(`Next: assay deliverable send ${id}`)
    return 0
  })
}
