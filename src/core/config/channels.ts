import type { Finding, Path } from '../../contract/source/problem.ts'
import { unknownName } from './check.ts'

/** Channels used under a name that nobody declares, in a file of which more than that may be wrong. */
export function writtenChannelFindings(raw: Readonly<Record<string, unknown>>): Finding[] {
  const notify = mapping(raw.notify)
  const sla = mapping(raw.sla)
  const rules = Array.isArray(notify.rules) ? notify.rules : []
  const uses: [Path, unknown][] = [
    [['sla', 'warningChannels'], sla.warningChannels],
    [['sla', 'violationChannels'], sla.violationChannels],
    ...rules.map((rule, index): [Path, unknown] => [['notify', 'rules', index, 'channels'], mapping(rule).channels]),
  ]
  // A channel that is declared wrongly is declared.
  const declared = Object.keys(mapping(notify.channels))
  return uses.flatMap(([path, names]) =>
    (Array.isArray(names) ? names : []).flatMap((name, index) =>
      typeof name !== 'string' || name === '' || declared.includes(name)
        ? []
        : [unknownName([...path, index], 'the channel', name, declared, 'under notify.channels')],
    ),
  )
}

function mapping(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
