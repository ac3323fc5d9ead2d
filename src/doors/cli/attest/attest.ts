import { resolve } from 'node:path'
import { type Attested, attestDeliverable, attestTask } from '../../../engine/audit/attest.ts'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { writeWhole } from '../audit/checkpoint.ts'
import { termLines } from './terms.ts'
import { isBroken } from '../commands/run.ts'
import { withEngine, withTask } from '../commands/task.ts'

type AttestFlags = ConfigFlags & { out?: string }

/** `assay attest <task|deliverable>`: what was decided, signed, for those who were not there. */
export async function attestCommand(app: App, output: Output, id: string, flags: AttestFlags): Promise<ExitCode> {
  const keeping = await app.keeping(output.terminal)
  // Nobody signs for what a damaged journal says, wherever the damage is.
  const code = await withEngine(app, output, flags, async (engine) => ((await isBroken(engine, output)) ? 3 : 0))
  if (code !== 0) return code
  return withTask(app, output, id, flags, async (engine, row, deliverable) => {
    // The whole name of a deliverable stands for what is handed over of the task that has it.
    const handed = await attestDeliverable(engine.parts, deliverable ?? id, keeping.signer())
    if (handed) return tell(output, deliverable ?? id, handed, flags)
    return tell(output, row.id, await attestTask(engine.parts, row.id, keeping.signer()), flags)
  })
}

function tell(output: Output, id: string, attested: Attested, { out }: AttestFlags): ExitCode {
  if (!attested.ok) {
    output.note(`assay: ${attested.error}`)
    return 2
  }
  const { envelope, statement } = attested.value
  const text = JSON.stringify(envelope)
  if (out === undefined) output.data(text)
  else writeWhole(resolve(output.terminal.cwd, out), `${text}\n`)
  const things = statement.subject.length === 1 ? 'one thing' : `${statement.subject.length} things`
  const where = out === undefined ? '' : ` in ${out}`
  if (statement.predicate.assay?.policyAccepted === false) {
    output.note('WARN: it was decided under terms that the owner has not accepted: assay policy show')
    for (const line of termLines(statement.predicate.assay)) output.note(`  ${line}`)
  }
  output.note(`${statement.predicate.result}: ${id}, ${things}${where}. Hand out the public key with it: assay audit key`)
  return 0
}
