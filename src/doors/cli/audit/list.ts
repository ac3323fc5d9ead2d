import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'
import { stopOnSignals } from '../signals.ts'
import { withEngine } from '../commands/task.ts'
import { type AuditFlags, filterOf, type Wanted } from './filter.ts'
import { auditLine, csvHeadings, csvRow } from './row.ts'

const page = 500
const formats = ['table', 'jsonl', 'csv']

/** `assay audit`: a view of the journal, which is the audit. */
export async function auditCommand(app: App, output: Output, flags: AuditFlags): Promise<ExitCode> {
  const format = output.json ? 'jsonl' : (flags.format ?? 'table')
  if (!formats.includes(format)) return say(output, `${format} is no format; there are ${formats.join(', ')}`)
  const filter = filterOf(flags, Date.now())
  if (!filter.ok) return say(output, filter.error)
  return withEngine(app, output, flags, async (engine) => {
    if (format === 'csv') output.data(csvHeadings.join(','))
    const line = (event: StoredEvent) =>
      format === 'csv' ? csvRow(event) : format === 'jsonl' ? JSON.stringify(event) : auditLine(output, event)
    const signals = flags.follow ? stopOnSignals(output, null) : undefined
    let position = await print(engine, output, filter.value, line, 0)
    while (signals && !signals.stop.aborted && !output.gone) {
      await engine.waitForNews(position, 500)
      position = await print(engine, output, filter.value, line, position)
    }
    signals?.dispose()
    return 0
  })
}

async function print(engine: Engine, output: Output, wanted: Wanted, line: (event: StoredEvent) => string, after: number): Promise<number> {
  let position = after
  for (;;) {
    const events = await engine.events(position, page)
    for (const event of events) {
      position = event.position
      if (wanted(event) && !output.gone) output.data(line(event))
    }
    if (events.length < page || output.gone) return position
  }
}

export function say(output: Output, message: string): ExitCode {
  output.note(`assay: ${message}`)
  return 2
}
