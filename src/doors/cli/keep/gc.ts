import { join } from 'node:path'
import { Duration, durationMs } from '../../../contract/config/duration.ts'
import { clearAway, minGraceMs } from '../../../engine/keep/gc.ts'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { openExisting } from '../commands/run.ts'

/** `assay gc`: clears away objects that nothing refers to. */
export async function gcCommand(app: App, output: Output, flags: ConfigFlags & { dryRun?: boolean; grace?: string }): Promise<ExitCode> {
  const grace = Duration.safeParse(flags.grace ?? '24h')
  if (!grace.success || durationMs(grace.data) < minGraceMs) {
    output.note('assay: --grace takes a time of at least 2h, such as 24h or 7d: work under way may rely on younger objects')
    return 2
  }
  const opened = await openExisting(app, output, flags)
  if (typeof opened === 'number') return opened
  const { engine, found } = opened
  try {
    const home = join(found.folder, '.assay')
    const keeping = await app.keeping(output.terminal)
    const { journal, snapshots, clock } = engine.parts
    const cleared = await clearAway(
      { journal, snapshots, inventory: keeping.inventory(home) },
      { graceMs: durationMs(grace.data), dryRun: flags.dryRun === true, further: () => keeping.records(home), clock },
    )
    const { removed, removedBytes, objects, young } = cleared
    const doing = flags.dryRun === true ? 'would be removed' : 'removed'
    if (output.json) output.jsonLine({ kind: 'cleared', dryRun: flags.dryRun === true, ...cleared })
    else output.data(`${removed} of ${objects} objects ${doing}, ${removedBytes} bytes; ${young} more are younger than ${grace.data}`)
    return 0
  } finally {
    await engine.close()
  }
}
