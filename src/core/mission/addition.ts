import type { Result } from '../../contract/errors.ts'
import { MissionFile, MissionTask } from '../../contract/mission/mission.ts'
import { readDocument } from '../../contract/source/document.ts'
import { parseWith } from '../../contract/source/issues.ts'
import { type Finding, placeFindings, type Problem } from '../../contract/source/problem.ts'
import { named } from '../../contract/source/shown.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { checkMission } from './check.ts'
import { pastDeadlines } from './deadlines.ts'
import { type MissionSource, taskSpec } from './load.ts'
import { nameTasks } from './names.ts'

/** The run has a name: a file with what is added to it needs none. */
const AdditionFile = MissionFile.extend({ name: MissionFile.shape.name.optional() })

/** A task that the run has already. */
export interface KnownTask {
  id: string
  title: string
  assignee: string
}

/** The run as it is. */
export interface KnownRun {
  mission: string
  known: readonly KnownTask[]
  /** Names of its quality gates. */
  gates: readonly string[]
}

/**
 * Tasks of a mission file that a run does not have yet, as tasks of that run; or every problem with them. They may depend on what the run has:
 * the file may be the whole mission with tasks added to it, or hold the new ones alone.
 */
export function loadAddition(
  { text, file, config, now }: MissionSource,
  { mission, known, gates }: KnownRun,
): Result<TaskSpec[], Problem[]> {
  const document = readDocument(text, file, { maxBytes: config.limits.missionBytes })
  if (!document.ok) return document
  const { value, locate } = document.value
  const read = parseWith(AdditionFile, value)
  if (!read.ok) return { ok: false, error: placeFindings(read.error, locate) }
  const parsed: MissionFile = { ...read.value, name: read.value.name ?? mission }
  const idOf = new Map(known.map(({ id, title }) => [title.normalize(), id]))
  const written = new Set(parsed.tasks.map(({ title }) => title.normalize()))
  const others = known.filter(({ title }) => !written.has(title.normalize()))
  // What the file does not say again stands behind what it says, so that problems are found where they were written.
  const stubs = others.map(({ title, assignee }) => MissionTask.parse({ title, assignTo: assignee }))
  const whole: MissionFile = { ...parsed, tasks: [...parsed.tasks, ...stubs], qualityGates: [] }
  const names = nameTasks(whole)
  const { findings } = checkMission(whole, config, names)
  findings.push(...gateFindings(parsed, new Set(gates), (name) => idOf.has(name.trim().normalize())))
  // Those that the run has may have met theirs long ago.
  const isFresh = ({ path: [part, index] }: Finding) => part === 'tasks' && !idOf.has(parsed.tasks[Number(index)]?.title.normalize() ?? '')
  if (now !== undefined) findings.push(...pastDeadlines(parsed, now).filter(isFresh))
  if (findings.length > 0) return { ok: false, error: placeFindings(findings, locate) }
  const inRun = (id: string) => {
    const index = names.ids.indexOf(id)
    return idOf.get(whole.tasks[index]?.title.normalize() ?? '') ?? `${mission}/${id.slice(id.indexOf('/') + 1)}`
  }
  const fresh = parsed.tasks.flatMap((task, index) => {
    if (idOf.has(task.title.normalize())) return []
    const spec = taskSpec(task, index, names, config, new Map())
    return [{ ...spec, id: inRun(spec.id), mission, dependsOn: spec.dependsOn.map(inRun) }]
  })
  return { ok: true, value: fresh }
}

/** A run keeps the gates it began with: one that the file has more, or that looks at or blocks a new task, would be lost in silence. */
function gateFindings({ qualityGates }: MissionFile, gates: ReadonlySet<string>, isKnown: (title: string) => boolean): Finding[] {
  return qualityGates.flatMap(({ name, afterTasks, blocksTasks }, index): Finding[] => {
    const path = ['qualityGates', index]
    const fix = 'leave it out; what has to pass a gate belongs into a run of its own'
    if (!gates.has(name)) return [{ path, message: `the gate ${named(name)} cannot be added to a run`, fix }]
    const fresh = [...afterTasks, ...blocksTasks].find((title) => !isKnown(title))
    return fresh === undefined
      ? []
      : [{ path, message: `the gate ${named(name)} of the run cannot take in the new task ${named(fresh)}`, fix }]
  })
}
