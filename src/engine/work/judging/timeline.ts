import type { StoredEvent } from '../../../contract/events/envelope.ts'
import type { EventData } from '../../../contract/events/manifest.ts'

/** Lines of a timeline that a judge is shown. */
const maxLines = 200

/** What the runtime itself saw of an attempt: processes, tools, exit codes, checks. No word of the worker's is in it. */
export function timelineOf(events: readonly StoredEvent[], attempt: number): string[] {
  const begun = events.findLastIndex((event) => event.type === 'attempt.started' && (event.data as { attempt: number }).attempt === attempt)
  if (begun < 0) return []
  const start = Date.parse(events[begun]?.meta.at ?? '')
  const lines = events.slice(begun).flatMap((event) => {
    const said = describe(event)
    return said === undefined ? [] : [`+${((Date.parse(event.meta.at) - start) / 1000).toFixed(1)} s  ${said}`]
  })
  return lines.length <= maxLines ? lines : [...lines.slice(0, maxLines), `[${lines.length - maxLines} more lines left out]`]
}

function describe({ type, data }: StoredEvent): string | undefined {
  switch (type) {
    case 'attempt.started': {
      const { worker, sandboxed } = data as EventData<'attempt.started'>
      return `the turn of ${worker} began, ${sandboxed ? 'in a sandbox' : 'without a sandbox'}`
    }
    case 'call.begun': {
      const { call, tool } = data as EventData<'call.begun'>
      return `tool call ${call} began: ${tool}`
    }
    case 'call.ended':
      return `tool call ${(data as EventData<'call.ended'>).call} ended`
    case 'case.submitted': {
      const { submission, content } = data as EventData<'case.submitted'>
      const printed = Buffer.byteLength(content.output ?? '')
      return `submission ${submission}: ${printed} bytes printed, ${content.paths.length} files changed`
    }
    case 'checks.passed':
    case 'checks.failed':
      return (data as EventData<'checks.passed'>).reports.map(({ id, outcome }) => `check ${id}: ${outcome}`).join(', ') || 'no checks ran'
    default:
      return undefined
  }
}
