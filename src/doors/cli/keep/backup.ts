import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUp, restoreBackup } from '../../../engine/keep/backup.ts'
import type { App, ExitCode } from '../app.ts'
import { type Output, oneLine } from '../output.ts'
import { type ConfigFlags, findProject } from '../project.ts'
import { verificationText } from '../render/verification.ts'
import { type CheckpointFlags, keptCheckpoint } from '../audit/kept.ts'
import { say } from '../audit/list.ts'
import { refuse } from '../commands/run.ts'

/** `assay backup <folder>`: a consistent copy, while others may be at work. */
export async function backupCommand(app: App, output: Output, to: string, flags: ConfigFlags): Promise<ExitCode> {
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const home = join(found.value.folder, '.assay')
  if (!existsSync(join(home, 'assay.db'))) return say(output, `there is no .assay/ in ${found.value.folder}; there is nothing to back up`)
  const keeping = await app.keeping(output.terminal)
  const copied = await backUp(keeping, home, resolve(output.terminal.cwd, to))
  if (!copied.ok) return say(output, copied.error)
  const { events, objects } = copied.value
  if (output.json) output.jsonLine({ kind: 'backup', ...copied.value })
  else output.data(`${events} events and ${objects} objects in ${to}`)
  output.note('Keep a checkpoint with it, elsewhere: assay audit checkpoint --out <file>')
  return 0
}

/** `assay backup restore <folder>`: proved before it takes the place of a journal that is not there. */
export async function restoreCommand(
  app: App,
  output: Output,
  from: string,
  flags: CheckpointFlags & { acceptRollback?: boolean },
): Promise<ExitCode> {
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const source = resolve(output.terminal.cwd, from)
  if (!existsSync(join(source, 'assay.db'))) return say(output, `${from} is no backup: it has no assay.db`)
  const keeping = await app.keeping(output.terminal)
  const checkpoint = keptCheckpoint(output, keeping, flags)
  if (!checkpoint.ok) return say(output, checkpoint.error)
  const home = join(found.value.folder, '.assay')
  const acceptRollback = flags.acceptRollback === true
  const restored = await restoreBackup(keeping, source, home, { checkpoint: checkpoint.value, acceptRollback })
  if (!restored.ok) {
    if (typeof restored.error === 'string') return say(output, restored.error)
    if (output.json) output.jsonLine({ kind: 'refused', report: restored.error })
    else output.data(verificationText(output, restored.error))
    const hint = restored.error.rollback ? ' The backup is OLDER than the checkpoint; --accept-rollback restores it all the same' : ''
    output.note(`assay: nothing was restored: the backup does not hold.${hint}`)
    return 1
  }
  const { events, objects, report } = restored.value
  if (output.json) output.jsonLine({ kind: 'restored', ...restored.value })
  else output.data(`${events} events and ${objects} objects restored and verified`)
  if (report.rollback)
    for (const { problem } of report.breaks.slice(0, 1)) output.note(output.paint('red', `WARNING: ${oneLine(problem, 400)}`))
  return 0
}
