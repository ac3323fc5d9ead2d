import { marked } from '../../../contract/source/shown.ts'
import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { Engine } from '../../../engine/engine.ts'
import { JournalFault } from '../../../ports/journal.ts'
import type { App, ExitCode } from '../app.ts'
import { oneLine, type Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { describeEvent } from '../render/event.ts'
import { cut } from '../render/table.ts'
import { verificationText } from '../render/verification.ts'
import { stopOnSignals } from '../signals.ts'
import { withEngine } from './task.ts'

interface AuditFlags extends ConfigFlags {
  task?: string
  kind?: string
  all?: boolean
  follow?: boolean
}

/** What an auditor looks for first. */
const auditable = new Set([
  'verdict.recorded',
  'task.eval.unparsed',
  'seat.voided',
  'judge.unavailable',
  'veto.raised',
  'veto.lifted',
  'review.opened',
  'review.decided',
  'decision.reused',
  'attempt.rejected',
  'attempt.failed',
  'attempt.interrupted',
  'checks.failed',
  'task.accepted',
  'task.force_accepted',
  'task.stagnated',
  'task.held',
  'task.failed',
  'task.overruled',
  'task.reset',
  'operator.requested',
  'operator.answered',
  'policy.recorded',
  'policy.adopted',
])

/** `assay audit`: a view of the journal, which is the audit. */
export async function auditCommand(app: App, output: Output, flags: AuditFlags): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const signals = flags.follow ? stopOnSignals(output, null) : undefined
    let position = await print(engine, output, flags, 0)
    while (signals && !signals.stop.aborted && !output.gone) {
      await engine.waitForNews(position, 500)
      position = await print(engine, output, flags, position)
    }
    signals?.dispose()
    return 0
  })
}

async function print(engine: Engine, output: Output, flags: AuditFlags, after: number): Promise<number> {
  let position = after
  for (;;) {
    const events = await engine.events(position, 500)
    for (const event of events) {
      position = event.position
      if (wanted(event, flags) && !output.gone) output.data(output.json ? JSON.stringify(event) : auditLine(output, event))
    }
    if (events.length < 500 || output.gone) return position
  }
}

function wanted(event: StoredEvent, flags: AuditFlags): boolean {
  if (flags.kind !== undefined && event.type !== flags.kind) return false
  if (flags.task !== undefined && event.stream !== `task/${flags.task}` && !event.stream.endsWith(`/${flags.task}`)) return false
  return flags.all === true || flags.kind !== undefined || auditable.has(event.type)
}

function auditLine(output: Output, event: StoredEvent): string {
  const time = event.meta.at.slice(0, 19).replace('T', ' ')
  const where = `${marked(event.stream)}@${event.version}`
  const text = `${time}  ${event.type.padEnd(20)}  ${describeEvent(event) ?? oneLine(JSON.stringify(event.data), 200)}  (${where})`
  return output.terminal.stdout.isTTY ? cut(text, output.columns) : text
}

/** `assay audit verify`: proves the chains from stored bytes. A file too damaged to be opened is as broken as one with a broken chain. */
export async function verifyCommand(app: App, output: Output, flags: ConfigFlags): Promise<ExitCode> {
  const tell = (verification: Awaited<ReturnType<Engine['verify']>>): ExitCode => {
    if (output.json) output.jsonLine(verification)
    else output.data(verificationText(output, verification))
    return verification.breaks.length === 0 ? 0 : 1
  }
  try {
    return await withEngine(app, output, flags, async (engine) => tell(await engine.verify()))
  } catch (error) {
    if (!(error instanceof JournalFault) || (error.code !== 'corrupt' && error.code !== 'not_a_journal')) throw error
    return tell({ events: 0, streams: 0, breaks: [{ stream: '(journal)', version: 0, position: null, problem: error.message }] })
  }
}
