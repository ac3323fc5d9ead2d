import type { z } from 'zod'
import { MissionTask, QualityGate, type MissionFile } from '../../contract/mission/mission.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'

/** What of a file that is broken somewhere can still be looked at. */
export interface Salvaged {
  mission: MissionFile
  /** Whether a finding speaks of what was written, not of what was put in the place of something broken. */
  isSound: (finding: Finding) => boolean
}

type Mapping = Record<string, unknown>

/**
 * A file whose shape is wrong in places, with a harmless value wherever it is wrong, so that names and order can be looked at in the same
 * go. Undefined where it has no list of tasks: then nothing could be said that is true.
 */
export function salvageMission(value: unknown): Salvaged | undefined {
  const { name, tasks, qualityGates, deadline } = mapping(value)
  if (!Array.isArray(tasks) || tasks.length === 0) return undefined
  const broken: Path[] = []
  const gates = Array.isArray(qualityGates) ? qualityGates : []
  const mission: MissionFile = {
    name: typeof name === 'string' && name.trim() !== '' ? name.trim() : 'mission',
    tasks: tasks.map((task, index) => salvageTask(task, index, broken)),
    qualityGates: gates.map((gate, index) => salvageGate(gate, index, broken)),
    ...(typeof deadline === 'string' && { deadline }),
  }
  const roots = new Set(broken.map((path) => JSON.stringify(path)))
  const isSound = ({ path }: Finding) => !path.some((_step, end) => roots.has(JSON.stringify(path.slice(0, end + 1))))
  return { mission, isSound }
}

function salvageTask(entry: unknown, index: number, broken: Path[]): MissionTask {
  const whole = MissionTask.safeParse(entry)
  if (whole.success) return whole.data
  const path = ['tasks', index]
  const { title } = mapping(entry)
  // Whoever depends on it by that name has the right one, whatever else is wrong with it.
  const stand = { title: title === undefined || title === null ? `tasks[${index}]` : String(title).trim(), assignTo: '' }
  const sound = soundFields(MissionTask.shape, entry, path, broken)
  // Checks may name criteria, and those cannot be told from the ones that were left out.
  if (broken.some((at) => at[1] === index && at[2] === 'acceptanceCriteria')) broken.push([...path, 'checks'])
  return { ...MissionTask.parse({ title: 'x', assignTo: 'x' }), ...stand, ...sound } as MissionTask
}

function salvageGate(entry: unknown, index: number, broken: Path[]): QualityGate {
  const whole = QualityGate.safeParse(entry)
  if (whole.success) return whole.data
  const stand = { name: `qualityGates[${index}]`, afterTasks: [] }
  const sound = soundFields(QualityGate.shape, entry, ['qualityGates', index], broken)
  return { ...QualityGate.parse({ name: 'x', afterTasks: ['x'] }), ...stand, ...sound } as QualityGate
}

/** The fields that are as they should be; the paths of the others are noted. */
function soundFields(shape: Record<string, z.ZodType>, entry: unknown, path: Path, broken: Path[]): Mapping {
  const sound: Mapping = {}
  for (const [key, field] of Object.entries(shape)) {
    const parsed = field.safeParse(mapping(entry)[key])
    if (parsed.success && parsed.data !== undefined) sound[key] = parsed.data
    else if (!parsed.success) broken.push([...path, key])
  }
  return sound
}

function mapping(value: unknown): Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : {}
}
