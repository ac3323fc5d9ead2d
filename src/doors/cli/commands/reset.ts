import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../../engine/engine.ts'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'
import { type ConfigFlags, type FoundProject, findProject } from '../project.ts'
import { notTheOwner } from '../owner.ts'
import { refuse } from './run.ts'
import { withTask } from './task.ts'

/** `assay reset`: nothing is deleted. The whole folder is put away under a dated name; a task's ledger starts anew by an event. */
export async function resetCommand(
  app: App,
  output: Output,
  id: string | undefined,
  flags: ConfigFlags & { reason?: string },
): Promise<ExitCode> {
  const authority = await app.authority(output.terminal)
  if (!authority.ok) {
    output.note(`assay: ${authority.message}`)
    return 2
  }
  if (id !== undefined) return resetTask(app, output, id, flags, authority)
  const found = findProject(output.terminal, flags)
  if (!found.ok) return refuse(output, found.error)
  const home = join(found.value.folder, '.assay')
  if (!existsSync(home)) {
    output.note(`There is no .assay/ in ${found.value.folder}: nothing to reset.`)
    return 0
  }
  const engine = await openedOrDamaged(app, found.value)
  const busy = await engine?.isBusy()
  const foreign = engine !== null && !(await engine.isOwner(authority.token))
  await engine?.close()
  if (foreign) {
    output.note(`assay: ${notTheOwner}`)
    return 2
  }
  if (busy) {
    output.note('assay: another process is at work here; stop it first (Ctrl-C), then reset')
    return 2
  }
  const stamp = new Date().toISOString().replace(/[:.]/g, '-')
  const archive = `${home}-${stamp}`
  renameSync(home, archive)
  output.data(output.json ? JSON.stringify({ kind: 'reset', archive }) : `put away: ${archive}`)
  return 0
}

/** A journal that cannot be opened any more is what a reset is for. */
async function openedOrDamaged(app: App, { folder, project }: FoundProject): Promise<Engine | null> {
  try {
    return await app.open({ folder, project, create: false })
  } catch (error) {
    if ((error as Error).name === 'JournalFault') return null
    throw error
  }
}

async function resetTask(
  app: App,
  output: Output,
  id: string,
  flags: ConfigFlags & { reason?: string },
  { by, token }: { by: string; token: string },
): Promise<ExitCode> {
  return withTask(app, output, id, flags, async (engine, row) => {
    if (!(await engine.isOwner(token))) {
      output.note(`assay: ${notTheOwner}`)
      return 2
    }
    const handled = await engine.handle(row.id, { type: 'reset_task', by, reason: flags.reason ?? '' }, by)
    if (!handled.ok) {
      output.note(`assay: ${handled.error.message}`)
      return 2
    }
    output.data(
      output.json ? JSON.stringify({ kind: 'reset', task: row.id }) : `${row.id}: neither side sees older ledger entries from here on`,
    )
    return 0
  })
}
