import { expandChecks } from '../../contract/check.ts'
import type { Config } from '../../contract/config/config.ts'
import type { Result } from '../../contract/errors.ts'
import type { DeliverableSpec } from '../../contract/mission/deliverable.ts'
import { type Mission, MissionFile, type MissionTask, type WorkspaceEntry } from '../../contract/mission/mission.ts'
import { readDocument } from '../../contract/source/document.ts'
import { parseWith } from '../../contract/source/issues.ts'
import { type Locate, placeFindings, type Problem } from '../../contract/source/problem.ts'
import type { TaskSpec, Workspace } from '../../contract/task.ts'
import { checkMission } from './check.ts'
import { criteriaOf } from './criteria.ts'
import { nameTasks, type TaskNames } from './names.ts'

export interface MissionSource {
  text: string
  /** Name of the file, for messages. */
  file: string
  config: Config
}

export interface LoadedMission {
  mission: Mission
  tasks: TaskSpec[]
  notices: Problem[]
  /** The file as written, and where each part of it stands. */
  written: MissionFile
  locate: Locate
}

/** The one way from a mission file to tasks: shape and rules, all problems at once, or nothing. */
export function loadMission({ text, file, config }: MissionSource): Result<LoadedMission, Problem[]> {
  const document = readDocument(text, file, { maxBytes: config.limits.missionBytes })
  if (!document.ok) return document
  const { value, locate } = document.value
  const parsed = parseWith(MissionFile, value)
  if (!parsed.ok) return { ok: false, error: placeFindings(parsed.error, locate) }
  const written = parsed.value
  const names = nameTasks(written)
  const { findings, notices } = checkMission(written, config, names)
  if (findings.length > 0) return { ok: false, error: placeFindings(findings, locate) }
  const mission = missionOf(written, names)
  const shutting = gatesByTask(mission)
  const tasks = written.tasks.map((task, index) => taskSpec(task, index, names, config, shutting))
  return { ok: true, value: { mission, tasks, notices: placeFindings(notices, locate), written, locate } }
}

/** A task of the file as the runtime holds it. */
export function taskSpec(task: MissionTask, index: number, names: TaskNames, config: Config, shutting: Map<string, string[]>): TaskSpec {
  const id = names.ids[index] ?? ''
  const gates = shutting.get(id)
  return {
    id,
    mission: names.missionId,
    title: task.title,
    description: task.description,
    assignee: task.assignTo,
    criteria: criteriaOf(task.acceptanceCriteria),
    checks: expandChecks([...config.checks, ...task.checks]),
    dimensions: task.dimensions ?? config.review.dimensions,
    bar: task.threshold ?? config.review.threshold,
    dependsOn: idsOf(task.dependsOn, names),
    ...(gates && { gates }),
    priority: task.priority,
    ...(task.deadline !== undefined && { deadline: task.deadline }),
    workspace: workspaceOf(task.workspace),
    expectsDiff: task.expectsDiff,
    depth: 0,
    ...(task.deliverable !== undefined && { deliverable: deliverableOf(task.deliverable) }),
  }
}

/** The gates that each task waits for. */
function gatesByTask({ gates }: Mission): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { name, blocksTasks } of gates) for (const task of new Set(blocksTasks)) found.set(task, [...(found.get(task) ?? []), name])
  return found
}

function missionOf(written: MissionFile, names: TaskNames): Mission {
  const byId = <T>(pick: (task: MissionTask) => T | undefined): Record<string, T> =>
    Object.fromEntries(
      written.tasks.flatMap((task, index) => {
        const picked = pick(task)
        return picked === undefined ? [] : [[names.ids[index] ?? '', picked]]
      }),
    )
  return {
    id: names.missionId,
    name: written.name,
    gates: written.qualityGates.map((gate) => ({
      ...gate,
      afterTasks: idsOf(gate.afterTasks, names),
      blocksTasks: idsOf(gate.blocksTasks, names),
    })),
    ...(written.qualityThreshold === undefined ? {} : { qualityThreshold: written.qualityThreshold }),
    ...(written.deadline === undefined ? {} : { deadline: written.deadline }),
    deadlines: byId((task) => task.deadline),
    deliverables: byId((task) => (task.deliverable === undefined ? undefined : deliverableOf(task.deliverable))),
  }
}

/** Names were resolved by `checkMission`; what it did not know was refused there. */
function idsOf(list: readonly string[], names: TaskNames): string[] {
  return list.flatMap((name) => names.ids[names.find(name) ?? -1] ?? [])
}

function workspaceOf(entry: WorkspaceEntry): Workspace {
  if (typeof entry === 'object') return { kind: 'folder', path: entry.folder }
  if (entry === 'scratch' || entry === 'worktree') return { kind: entry }
  return { kind: 'folder', path: entry.replace(/^folder: */, '') }
}

/** A text alone is a URL, a folder (it ends in `/`) or a file. */
function deliverableOf(entry: string | DeliverableSpec): DeliverableSpec {
  if (typeof entry === 'object') return entry
  if (/^https?:\/\//.test(entry)) return { kind: 'url', url: entry }
  return entry.endsWith('/') ? { kind: 'folder', path: entry } : { kind: 'file', path: entry }
}
