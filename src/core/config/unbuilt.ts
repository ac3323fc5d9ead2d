import type { Config } from '../../contract/config/config.ts'
import type { ParsedConfig } from '../../contract/config/read/parse.ts'
import type { MissionFile, MissionTask } from '../../contract/mission/mission.ts'
import { arrange, type Finding, type Path, placeFindings, type Problem } from '../../contract/source/problem.ts'
import type { LoadedMission } from '../mission/load.ts'

type Use = { path: Path }

/** One capability that files can ask for and that the runtime does not have yet. A row goes when the capability lands. */
interface Unbuilt {
  what: string
  inMission?: (mission: MissionFile) => Use[]
  inConfig?: (config: Config, mission: MissionFile) => Use[]
}

const table: Unbuilt[] = [
  { what: 'a deliverable', inMission: (mission) => perTask(mission, 'deliverable') },
  { what: 'known-bad controls', inConfig: ({ review }) => (review.canaries > 0 ? [{ path: ['review', 'canaries'] }] : []) },
  {
    what: 'calibrated weights',
    inConfig: ({ review }) => (review.panel.weights === 'calibrated' ? [{ path: ['review', 'panel', 'weights'] }] : []),
  },
]

/** What a mission and its configuration ask for that this version cannot do. Refused before anything runs: a gate that is not there must not look like one. */
export function usesUnbuilt(mission: LoadedMission, config: ParsedConfig): Problem[] {
  const findings = (uses: Use[], what: string): Finding[] =>
    uses.map((use) => ({ path: use.path, at: 'key', message: `${what}: not available in this version`, fix: 'leave it out' }))
  return arrange(
    table.flatMap(({ what, inMission, inConfig }) => [
      ...placeFindings(findings(inMission?.(mission.written) ?? [], what), mission.locate),
      ...placeFindings(findings(inConfig?.(config.config, mission.written) ?? [], what), config.locate),
    ]),
  )
}

function perTask(mission: MissionFile, key: keyof MissionTask, uses = (task: MissionTask) => task[key] !== undefined): Use[] {
  return mission.tasks.flatMap((task, index) => (uses(task) ? [{ path: ['tasks', index, key] }] : []))
}
