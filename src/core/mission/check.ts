import type { Config } from '../../contract/config/config.ts'
import { DeliverableId } from '../../contract/deliverable/deliverable.ts'
import type { MissionFile, MissionTask, QualityGate } from '../../contract/mission/mission.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'
import { excerpt, named, shown } from '../../contract/source/shown.ts'
import { undeclaredChannels, unknownName } from '../config/check.ts'
import { checkFindings } from '../config/check-checks.ts'
import { type Checked, checkDimensions } from '../config/dimensions.ts'
import { criteriaFindings, criteriaOf } from './criteria.ts'
import { type Edge, findCycles } from './cycles.ts'
import { nameTasks, resolveNames, type TaskNames } from './names.ts'

/** Titles of a circle that are named before the rest is counted. */
const mostNamed = 12

/** Everything about a mission that its shape does not say: names, duplicates, circles, gates that block their own inputs. */
export function checkMission(mission: MissionFile, config: Config, names: TaskNames = nameTasks(mission)): Checked {
  const checked: Checked = { findings: [], notices: [] }
  if (mission.tasks.length > config.limits.missionTasks) {
    const message = `the mission has ${mission.tasks.length} tasks; at most ${config.limits.missionTasks} are taken (\`limits.missionTasks\`)`
    return { findings: [{ path: ['tasks'], at: 'key', message }], notices: [] }
  }
  for (const [index, task] of mission.tasks.entries()) checkTask(task, ['tasks', index], config, checked)
  const gateNames = new Set<string>()
  for (const [index, gate] of mission.qualityGates.entries()) {
    if (gateNames.has(gate.name))
      checked.findings.push({ path: ['qualityGates', index, 'name'], message: `the gate ${named(gate.name)} is there twice` })
    gateNames.add(gate.name)
    checkGate(gate, ['qualityGates', index], config, checked)
  }
  checked.findings.push(...ownFindings(mission, names))
  return checked
}

/** What can be said of a mission by itself, whatever the configuration declares. */
export function ownFindings(mission: MissionFile, names: TaskNames = nameTasks(mission)): Finding[] {
  return [...names.findings, ...folderFindings(mission), ...deliverableFindings(mission), ...orderFindings(mission, names)]
}

function checkTask(task: MissionTask, path: Path, config: Config, { findings, notices }: Checked): void {
  if (!Object.hasOwn(config.agents, task.assignTo)) {
    findings.push(
      unknownName([...path, 'assignTo'], 'the agent', task.assignTo, Object.keys(config.agents), 'under agents in the configuration'),
    )
  }
  findings.push(...criteriaFindings(task.acceptanceCriteria, [...path, 'acceptanceCriteria']))
  const ids = criteriaOf(task.acceptanceCriteria).map((criterion) => criterion.id)
  for (const [index, check] of task.checks.entries()) {
    for (const [place, id] of ('proves' in check ? (check.proves ?? []) : []).entries()) {
      if (!ids.includes(id))
        findings.push(unknownName([...path, 'checks', index, 'proves', place], 'the criterion', id, ids, 'by the task'))
    }
  }
  const checks = task.checks.map((spec, index) => ({ spec, path: [...path, 'checks', index] }))
  findings.push(...checkFindings([...config.checks.map((spec) => ({ spec })), ...checks]))
  if (task.dimensions) {
    const dimensions = checkDimensions(task.dimensions, config.review.weightSum, [...path, 'dimensions'])
    findings.push(...dimensions.findings)
    notices.push(...dimensions.notices)
  }
}

function checkGate(gate: QualityGate, path: Path, config: Config, { findings, notices }: Checked): void {
  findings.push(...undeclaredChannels([...path, 'notifyChannels'], gate.notifyChannels, config.notify.channels))
  if (gate.minScore === undefined && gate.requireAllPassed === false) {
    const message = `the gate ${named(gate.name)} asks for nothing: it passes whatever its tasks come to`
    notices.push({ path, message, fix: 'give it `minScore` or `requireAllPassed`' })
  }
}

/** Tasks that share files share one folder: of folders inside each other nobody could tell who writes where. */
function folderFindings(mission: MissionFile): Finding[] {
  const folders = mission.tasks.flatMap((task, index) => {
    const written = typeof task.workspace === 'string' ? /^folder: *(.*)$/s.exec(task.workspace)?.[1] : task.workspace.folder
    return written === undefined ? [] : [{ index, written, steps: plainSteps(written) }]
  })
  const inside = (one: string[], other: string[]) => one.length > other.length && other.every((step, at) => one[at] === step)
  return folders.flatMap(({ index, written, steps }) => {
    const around = folders.find((other) => inside(steps, other.steps))
    if (!around) return []
    const message = `the folder ${shown(written)} lies in ${shown(around.written)}, which other tasks share`
    return [{ path: ['tasks', index, 'workspace'], message, fix: 'let them share the same folder' }]
  })
}

/** Of two tasks with one deliverable the later card would replace the earlier one, unseen. A page is kept beside the files, which a merge would bring in. */
function deliverableFindings(mission: MissionFile): Finding[] {
  const first = new Map<string, number>()
  return mission.tasks.flatMap(({ deliverable, workspace }, index) => {
    const isPage = typeof deliverable === 'object' ? deliverable.kind === 'url' : /^https?:\/\//.test(deliverable ?? '')
    if (isPage && workspace === 'worktree') {
      const message = 'a page is no part of a repository: it cannot be the deliverable of a task in a worktree'
      return [{ path: ['tasks', index, 'deliverable'], message, fix: 'hand it over from a task of its own, with `workspace: scratch`' }]
    }
    const id = typeof deliverable === 'object' ? deliverable.id : undefined
    if (id === undefined) return []
    const path = ['tasks', index, 'deliverable', 'id']
    const wrong = DeliverableId.safeParse(id).error?.issues[0]?.message
    if (wrong !== undefined) return [{ path, message: `${named(id)}: ${wrong}` }]
    const earlier = first.get(id)
    if (earlier === undefined) first.set(id, index)
    return earlier === undefined
      ? []
      : [{ path, message: `the deliverable ${named(id)} is that of tasks[${earlier}], too`, fix: 'give each an id of its own' }]
  })
}

function plainSteps(path: string): string[] {
  const steps: string[] = []
  for (const step of path.split('/')) {
    if (step === '..' && steps.length > 0 && steps.at(-1) !== '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  return steps
}

/** Who waits for whom, gates included: a blocked task waits for its gate, and the gate for its tasks. Nobody may wait for himself. */
function orderFindings(mission: MissionFile, names: TaskNames): Finding[] {
  const findings: Finding[] = []
  const count = mission.tasks.length
  const edges: Edge<Path>[][] = Array.from({ length: count + mission.qualityGates.length }, () => [])
  for (const [index, task] of mission.tasks.entries()) {
    for (const { task: to, path } of resolveNames(task.dependsOn, ['tasks', index, 'dependsOn'], names, mission, findings)) {
      if (to === index) findings.push({ path, message: `the task ${named(task.title)} depends on itself` })
      else edges[index]?.push({ to, why: path })
    }
  }
  for (const [index, gate] of mission.qualityGates.entries()) {
    const after = resolveNames(gate.afterTasks, ['qualityGates', index, 'afterTasks'], names, mission, findings)
    const inputs = new Set(after.map(({ task }) => task))
    for (const { task, path } of after) edges[count + index]?.push({ to: task, why: path })
    for (const { task, path } of resolveNames(gate.blocksTasks, ['qualityGates', index, 'blocksTasks'], names, mission, findings)) {
      const title = mission.tasks[task]?.title ?? ''
      if (inputs.has(task)) findings.push({ path, message: `the gate ${named(gate.name)} blocks its own input ${named(title)}` })
      else edges[task]?.push({ to: count + index, why: path })
    }
  }
  for (const { nodes, closing } of findCycles(edges)) {
    const gate = nodes.find((node) => node >= count)
    const steps = nodes.map((node) =>
      node < count ? (mission.tasks[node]?.title ?? '') : `gate ${mission.qualityGates[node - count]?.name}`,
    )
    const gateName = gate === undefined ? '' : (mission.qualityGates[gate - count]?.name ?? '')
    const what = gate === undefined ? 'tasks wait for each other in a circle' : `the gate ${named(gateName)} blocks its own inputs`
    findings.push({ path: closing, message: `${what}: ${circle(steps)}`, fix: 'remove one of these steps' })
  }
  return findings
}

function circle(steps: string[]): string {
  const [first = ''] = steps
  const shown = steps.slice(0, mostNamed).map((step) => excerpt(step))
  const rest = steps.length - shown.length
  return [...shown, ...(rest > 0 ? [`… ${rest} more …`] : []), excerpt(first)].join(' → ')
}
