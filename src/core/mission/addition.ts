import type { Result } from '../../contract/errors.ts'
import { MissionFile, MissionTask } from '../../contract/mission/mission.ts'
import { readDocument } from '../../contract/source/document.ts'
import { parseWith } from '../../contract/source/issues.ts'
import { placeFindings, type Problem } from '../../contract/source/problem.ts'
import type { TaskSpec } from '../../contract/task.ts'
import { checkMission } from './check.ts'
import { type MissionSource, taskSpec } from './load.ts'
import { nameTasks } from './names.ts'

/** A task that the run has already. */
export interface KnownTask {
  id: string
  title: string
  assignee: string
}

/**
 * Tasks of a mission file that a run does not have yet, as tasks of that run; or every problem with them. They may depend on what the run has:
 * the file may be the whole mission with tasks added to it, or hold the new ones alone.
 */
export function loadAddition(
  { text, file, config }: MissionSource,
  { mission, known }: { mission: string; known: readonly KnownTask[] },
): Result<TaskSpec[], Problem[]> {
  const document = readDocument(text, file, { maxBytes: config.limits.missionBytes })
  if (!document.ok) return document
  const { value, locate } = document.value
  const parsed = parseWith(MissionFile, value)
  if (!parsed.ok) return { ok: false, error: placeFindings(parsed.error, locate) }
  const idOf = new Map(known.map(({ id, title }) => [title.normalize(), id]))
  const written = new Set(parsed.value.tasks.map(({ title }) => title.normalize()))
  const others = known.filter(({ title }) => !written.has(title.normalize()))
  // What the file does not say again stands behind what it says, so that problems are found where they were written.
  const stubs = others.map(({ title, assignee }) => MissionTask.parse({ title, assignTo: assignee }))
  const whole: MissionFile = { ...parsed.value, tasks: [...parsed.value.tasks, ...stubs], qualityGates: [] }
  const names = nameTasks(whole)
  const { findings } = checkMission(whole, config, names)
  if (findings.length > 0) return { ok: false, error: placeFindings(findings, locate) }
  const inRun = (id: string) => {
    const index = names.ids.indexOf(id)
    return idOf.get(whole.tasks[index]?.title.normalize() ?? '') ?? `${mission}/${id.slice(id.indexOf('/') + 1)}`
  }
  const fresh = parsed.value.tasks.flatMap((task, index) => {
    if (idOf.has(task.title.normalize())) return []
    const spec = taskSpec(task, index, names, config, new Map())
    return [{ ...spec, id: inRun(spec.id), mission, dependsOn: spec.dependsOn.map(inRun) }]
  })
  return { ok: true, value: fresh }
}
