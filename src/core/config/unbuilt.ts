import type { Config } from '../../contract/config/config.ts'
import type { ParsedConfig } from '../../contract/config/read/parse.ts'
import { arrange, type Finding, type Path, placeFindings, type Problem } from '../../contract/source/problem.ts'

type Use = { path: Path }

/** One capability that files can ask for and that the runtime does not have yet. A row goes when the capability lands. */
interface Unbuilt {
  what: string
  inConfig: (config: Config) => Use[]
}

const table: Unbuilt[] = [
  { what: 'known-bad controls', inConfig: ({ review }) => (review.canaries > 0 ? [{ path: ['review', 'canaries'] }] : []) },
  {
    what: 'calibrated weights',
    inConfig: ({ review }) => (review.panel.weights === 'calibrated' ? [{ path: ['review', 'panel', 'weights'] }] : []),
  },
]

/** What a configuration asks for that this version cannot do. Refused before anything runs: a gate that is not there must not look like one. */
export function usesUnbuilt(config: ParsedConfig): Problem[] {
  const findings = (uses: Use[], what: string): Finding[] =>
    uses.map((use) => ({ path: use.path, at: 'key', message: `${what}: not available in this version`, fix: 'leave it out' }))
  return arrange(table.flatMap(({ what, inConfig }) => placeFindings(findings(inConfig(config.config), what), config.locate)))
}
