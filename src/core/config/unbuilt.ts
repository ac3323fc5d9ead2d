import type { Config } from '../../contract/config/config.ts'
import type { ParsedConfig } from '../../contract/config/read/parse.ts'
import type { MissionFile, MissionTask } from '../../contract/mission/mission.ts'
import { arrange, type Finding, type Path, placeFindings, type Problem } from '../../contract/source/problem.ts'
import type { LoadedMission } from '../mission/load.ts'

type Use = { path: Path; what?: string }

/** One capability that files can ask for and that the runtime does not have yet. A row goes when the capability lands. */
interface Unbuilt {
  what: string
  inMission?: (mission: MissionFile) => Use[]
  inConfig?: (config: Config, mission: MissionFile) => Use[]
}

const builtChecks = ['command', 'file', 'text']
const builtBrains = ['command', 'scripted']

const table: Unbuilt[] = [
  { what: 'quality gates', inMission: (mission) => (mission.qualityGates.length > 0 ? [{ path: ['qualityGates'] }] : []) },
  { what: 'a quality threshold', inMission: (mission) => (mission.qualityThreshold === undefined ? [] : [{ path: ['qualityThreshold'] }]) },
  {
    what: 'a deadline',
    inMission: (mission) => [...(mission.deadline === undefined ? [] : [{ path: ['deadline'] }]), ...perTask(mission, 'deadline')],
  },
  { what: 'a deliverable', inMission: (mission) => perTask(mission, 'deliverable') },
  { what: 'a worktree workspace', inMission: (mission) => perTask(mission, 'workspace', (task) => task.workspace === 'worktree') },
  {
    what: 'a check',
    inMission: (mission) => mission.tasks.flatMap((task, index) => checkKinds(task.checks, ['tasks', index, 'checks'])),
    inConfig: (config) => checkKinds(config.checks, ['checks']),
  },
  {
    what: '`protect`',
    inMission: (mission) => mission.tasks.flatMap((task, index) => protecting(task.checks, ['tasks', index, 'checks'])),
    inConfig: (config) => protecting(config.checks, ['checks']),
  },
  { what: 'a brain', inConfig: brainKinds },
  { what: 'notifications', inConfig: ({ notify }) => (notify.rules.length > 0 ? [{ path: ['notify', 'rules'] }] : []) },
  { what: 'a bound on cost', inConfig: ({ review }) => (review.maxCost !== undefined ? [{ path: ['review', 'maxCost'] }] : []) },
  { what: 'known-bad controls', inConfig: ({ review }) => (review.canaries > 0 ? [{ path: ['review', 'canaries'] }] : []) },
  {
    what: 'calibrated weights',
    inConfig: ({ review }) => (review.panel.weights === 'calibrated' ? [{ path: ['review', 'panel', 'weights'] }] : []),
  },
]

/** What a mission and its configuration ask for that this version cannot do. Refused before anything runs: a gate that is not there must not look like one. */
export function usesUnbuilt(mission: LoadedMission, config: ParsedConfig): Problem[] {
  const findings = (uses: Use[], what: string): Finding[] =>
    uses.map((use) => ({ path: use.path, at: 'key', message: `${use.what ?? what}: not available in this version`, fix: 'leave it out' }))
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

function protecting(checks: Config['checks'], path: Path): Use[] {
  return checks.flatMap((check, index) => (check.protect === undefined ? [] : [{ path: [...path, index, 'protect'] }]))
}

function checkKinds(checks: Config['checks'], path: Path): Use[] {
  return checks.flatMap((check, index) =>
    builtChecks.includes(check.kind) ? [] : [{ path: [...path, index, 'kind'], what: `checks of the kind \`${check.kind}\`` }],
  )
}

/** Brains of agents in use: those that tasks are assigned to and, unless evaluation is off, every other one, for it may be seated as a judge. */
function brainKinds(config: Config, mission: MissionFile): Use[] {
  const assigned = new Set(mission.tasks.map((task) => task.assignTo))
  const inUse = Object.entries(config.agents).filter(([name]) => config.review.evaluate || assigned.has(name))
  const brains = new Set(inUse.map(([, agent]) => agent.brain))
  return Object.entries(config.brains).flatMap(([name, brain]) =>
    brains.has(name) && !builtBrains.includes(brain.kind)
      ? [{ path: ['brains', name, 'kind'], what: `brains of the kind \`${brain.kind}\`` }]
      : [],
  )
}
