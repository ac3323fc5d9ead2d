import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Checkpoint } from '../../../contract/attest/checkpoint.ts'
import { type AuditReport, unopenable, verifyEverything } from '../../../engine/audit/verify.ts'
import { owedTasks, owedText } from '../../../engine/mission/owed.ts'
import { JournalFault } from '../../../ports/journal.ts'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'
import { findProject } from '../project.ts'
import { verificationText } from '../render/verification.ts'
import { openExisting, refuse } from '../commands/run.ts'
import { type CheckpointFlags, keptCheckpoint } from './kept.ts'
import { say } from './list.ts'

/** `assay audit verify`: proves chains, views and objects from stored bytes, and holds the journal against a checkpoint. */
export async function verifyCommand(app: App, output: Output, flags: CheckpointFlags): Promise<ExitCode> {
  const keeping = await app.keeping(output.terminal)
  const checkpoint = keptCheckpoint(output, keeping, flags)
  if (!checkpoint.ok) return say(output, checkpoint.error)
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const home = join(found.value.folder, '.assay')
  if (checkpoint.value && !existsSync(join(home, 'assay.db'))) return tell(output, gone(home, checkpoint.value))
  try {
    const opened = await openExisting(app, output, flags)
    if (typeof opened === 'number') return opened
    const { journal, snapshots, rules } = opened.engine.parts
    const { policy } = rules
    try {
      const report = await verifyEverything({ journal, snapshots, inventory: keeping.inventory(home), policy }, checkpoint.value)
      const owed = report.breaks.length === 0 ? await owedTasks(journal) : []
      if (owed.length > 0) output.note(`note: ${owedText(owed)}`)
      return tell(output, report)
    } finally {
      await opened.engine.close()
    }
  } catch (error) {
    if (!(error instanceof JournalFault) || (error.code !== 'corrupt' && error.code !== 'not_a_journal')) throw error
    return tell(output, unopenable(error))
  }
}

function tell(output: Output, report: AuditReport): ExitCode {
  if (output.json) output.jsonLine(report)
  else {
    output.data(verificationText(output, report))
    if (report.breaks.length === 0) output.note(`${report.objects} objects are what their names say, and views agree.`)
    if (report.breaks.length === 0 && report.checkpoint !== null)
      output.data(`nothing of the checkpoint of ${report.checkpoint} was cut or rewritten`)
  }
  return report.breaks.length === 0 ? 0 : 1
}

/** A journal that a checkpoint was made of and that is not there is the largest cut of all. */
function gone(home: string, checkpoint: Checkpoint): AuditReport {
  const problem = `ROLLBACK: there is no journal in ${home}; the checkpoint of ${checkpoint.at} knows ${checkpoint.events} events`
  return unopenable(new JournalFault('not_a_journal', problem))
}
