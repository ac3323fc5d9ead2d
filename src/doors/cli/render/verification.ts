import { marked } from '../../../contract/source/shown.ts'
import type { Engine } from '../../../engine/engine.ts'
import { oneLine, type Output } from '../output.ts'

/** What verification found, with the place of every break. */
export function verificationText(output: Output, { events, streams, breaks }: Awaited<ReturnType<Engine['verify']>>): string {
  if (breaks.length === 0) return output.paint('green', `audit verified: ${events} events in ${streams} chains, none broken`)
  const lines = breaks
    .slice(0, 20)
    .map(
      (one) =>
        `  ${marked(one.stream)} at version ${one.version}${one.position === null ? '' : ` (position ${one.position})`}: ${oneLine(one.problem)}`,
    )
  return [
    output.paint(
      'red',
      `audit BROKEN in ${breaks.length} ${breaks.length === 1 ? 'place' : 'places'} (${events} events, ${streams} chains)`,
    ),
    ...lines,
  ].join('\n')
}
