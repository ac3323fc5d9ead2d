import { expandChecks } from '../../contract/check.ts'
import type { Config } from '../../contract/config/config.ts'
import type { Result } from '../../contract/errors.ts'
import type { DeliverableSpec } from '../../contract/mission/deliverable.ts'
import { type Mission, MissionFile, type MissionTask, type WorkspaceEntry } from '../../contract/mission/mission.ts'
import { readDocument } from '../../contract/source/document.ts'
import { parseWith } from '../../contract/source/issues.ts'
import { type Finding, type Locate, placeFindings, type Problem } from '../../contract/source/problem.ts'
import type { TaskSpec, Workspace } from '../../contract/task.ts'
import { withGateCriteria } from '../gate/criteria.ts'
import { checkMission, ownFindings } from './check.ts'
import { criteriaOf } from './criteria.ts'
import { pastDeadlines } from './deadlines.ts'
import { nameTasks, type TaskNames } from './names.ts'
import { salvageMission } from './salvage.ts'

export interface MissionSource {
  text: string
  /** Name of the file, for messages. */
  file: string
  config: Config
  /** Epoch milliseconds: points in time before it are refused as deadlines. Without it none is. */
  now?: number
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
export function loadMission({ text, file, config, now }: MissionSource): Result<LoadedMission, Problem[]> {
  const document = readDocument(text, file, { maxBytes: config.limits.missionBytes })
  if (!document.ok) return document
  const { value, locate } = document.value
  const parsed = parseWith(MissionFile, value)
  if (!parsed.ok) return { ok: false, error: placeFindings([...parsed.error, ...findingsOfBroken(value, config, now)], locate) }
  const written = parsed.value
  const names = nameTasks(written)
  const { findings, notices } = checkMission(written, config, names)
  if (now !== undefined) findings.push(...pastDeadlines(written, now))
  if (findings.length > 0) return { ok: false, error: placeFindings(findings, locate) }
  const mission = missionOf(written, names)
  const shutting = gatesByTask(mission)
  const tasks = written.tasks.map((task, index) => taskSpec(task, index, names, config, shutting))
  return { ok: true, value: { mission, tasks, notices: placeFindings(notices, locate), written, locate } }
}

/** What is wrong with a file by itself, without a configuration that names are compared with: its shape, and the order of its tasks. */
export function missionProblems({ text, file }: { text: string; file: string }): Problem[] {
  const document = readDocument(text, file)
  if (!document.ok) return document.error
  const { value, locate } = document.value
  const parsed = parseWith(MissionFile, value)
  if (parsed.ok) return placeFindings(ownFindings(parsed.value), locate)
  const salvaged = salvageMission(value)
  return placeFindings([...parsed.error, ...(salvaged ? ownFindings(salvaged.mission).filter(salvaged.isSound) : [])], locate)
}

/** Names and order of a file whose shape is wrong, as far as it can be read. */
function findingsOfBroken(value: unknown, config: Config, now: number | undefined): Finding[] {
  const salvaged = salvageMission(value)
  if (!salvaged) return []
  const { mission, isSound } = salvaged
  const past = now === undefined ? [] : pastDeadlines(mission, now)
  return [...checkMission(mission, config).findings, ...past].filter(isSound)
}

/** A task of the file as the runtime holds it. */
export function taskSpec(task: MissionTask, index: number, names: TaskNames, config: Config, shutting: Map<string, string[]>): TaskSpec {
  const id = names.ids[index] ?? ''
  const gates = shutting.get(id)
  const criteria = criteriaOf(task.acceptanceCriteria)
  return {
    id,
    mission: names.missionId,
    title: task.title,
    description: task.description,
    assignee: task.assignTo,
    criteria: task.deliverable === undefined ? criteria : withGateCriteria(criteria, config.gate.criteria),
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
    ...ownOf(task),
    ...(task.deliverable !== undefined && { deliverable: deliverableOf(task.deliverable) }),
  }
}

function ownOf({ threshold, dimensions }: MissionTask): Pick<TaskSpec, 'own'> {
  const own = [threshold !== undefined && ('bar' as const), dimensions !== undefined && ('dimensions' as const)].filter(
    (one) => one !== false,
  )
  return own.length === 0 ? {} : { own }
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
