import type { StoredEvent } from '../../contract/events/envelope.ts'
import { type JudgeFigures, JudgeTotals, type WorkFigures, WorkTotals } from '../../core/metrics/figures.ts'
import { foldMission, missionTypes } from '../../core/metrics/fold-mission.ts'
import { countsForTask, foldTask } from '../../core/metrics/fold-task.ts'
import type { MissionSums, TaskSums } from '../../core/metrics/task-sums.ts'
import type { Journal, View } from '../../ports/journal.ts'
import { taskOf } from '../streams.ts'
import { addSpent, nothingSpent, spendingKey, spendingView, type SpendingRow, type Spent } from './spending.ts'
import { textOrder } from '../../contract/canonical.ts'

export type { JudgeFigures, Share, WorkFigures } from '../../core/metrics/figures.ts'

/** Everything counted of a task, by task id: one small row changes for an event, whatever the size of the mission. */
export const taskMetricsView: View<TaskSums> = {
  name: 'task_metrics',
  keys: (event) => {
    if (!countsForTask(event)) return []
    const task = deadlineOf(event, 'task') ?? taskOf(event.stream)
    return task === undefined ? [] : [task]
  },
  fold: (row, event, task) => foldTask(row, event, { task, mission: missionOfTask(task) }),
}

/** What is counted of a mission itself, by mission id; its tasks are beside it. */
export const missionMetricsView: View<MissionSums> = {
  name: 'mission_metrics',
  keys: (event) => {
    if (!missionTypes.has(event.type)) return []
    const mission = deadlineOf(event, 'mission') ?? (event.data as { missionId?: string }).missionId
    return mission === undefined ? [] : [mission]
  },
  fold: (row, event, mission) => foldMission(row, event, mission),
}

/** Whose deadline the event is about: that is in its data, in whichever stream it stands. */
function deadlineOf({ data }: StoredEvent, type: 'task' | 'mission'): string | undefined {
  const { entityType, entityId } = data as { entityType?: string; entityId?: string }
  return entityType === type ? entityId : undefined
}

const missionOfTask = (task: string): string => task.slice(0, Math.max(0, task.lastIndexOf('/')))

/** What workers used, as far as they said so. */
interface Working {
  working: Spent
}

export type MetricsGroup =
  | ({ kind: 'mission'; mission: string } & WorkFigures & Working)
  | ({ kind: 'worker'; agent: string } & WorkFigures & Working)
  | ({ kind: 'judge'; agent: string } & JudgeFigures)

export type TaskMetrics = { kind: 'task'; task: string; mission: string; assignee: string } & WorkFigures & Working

export interface MetricsFilter {
  /** Figures of this mission's tasks alone. */
  mission?: string
  /** Figures of this agent, as worker and as judge, and of its tasks. */
  agent?: string
}

type Rows = Pick<Journal, 'viewRow' | 'viewRows'>

/** Rows read at a time. */
const page = 500

/** Missions, agents as workers, agents as judges, each in the order of their names. Missions are left out where one agent is asked for. */
export async function metricsOf(journal: Rows, { mission, agent }: MetricsFilter = {}): Promise<MetricsGroup[]> {
  const missions = new Map<string, WorkTotals>()
  const workers = new Map<string, WorkTotals>()
  const judges = new Map<string, JudgeTotals>()
  const worked = { missions: new Map<string, Spent>(), workers: new Map<string, Spent>() }
  for await (const row of taskRows(journal, mission)) {
    if (agent === undefined) totalsOf(missions, row.mission, () => new WorkTotals()).add(row)
    if (agent === undefined || row.assignee === agent) totalsOf(workers, row.assignee, () => new WorkTotals()).add(row)
    const spent = await workingOn(journal, row.task)
    for (const [sums, name] of [[worked.missions, row.mission] as const, [worked.workers, row.assignee] as const])
      sums.set(name, addSpent(sums.get(name) ?? nothingSpent, spent))
    for (const [judge, sums] of Object.entries(row.judges)) {
      if (agent === undefined || judge === agent) totalsOf(judges, judge, () => new JudgeTotals()).add(sums)
    }
  }
  for (const [id, totals] of missions) {
    const own = (await journal.viewRow(missionMetricsView.name, id)) as MissionSums | undefined
    if (own) totals.addMission(own)
  }
  return [
    ...inOrder(missions).map(([id, totals]) => ({ kind: 'mission' as const, mission: id, ...totals.figures, ...of(worked.missions, id) })),
    ...inOrder(workers).map(([name, totals]) => ({ kind: 'worker' as const, agent: name, ...totals.figures, ...of(worked.workers, name) })),
    ...inOrder(judges).map(([name, totals]) => ({ kind: 'judge' as const, agent: name, ...totals.figures })),
  ]
}

/** Tasks one by one, in the order of their ids: there may be very many. */
export async function* taskMetricsOf(journal: Rows, { mission, agent }: MetricsFilter = {}): AsyncGenerator<TaskMetrics> {
  for await (const row of taskRows(journal, mission)) {
    if (agent !== undefined && row.assignee !== agent) continue
    const totals = new WorkTotals()
    totals.add(row)
    const working = await workingOn(journal, row.task)
    yield { kind: 'task', task: row.task, mission: row.mission, assignee: row.assignee, ...totals.figures, working }
  }
}

async function workingOn(journal: Rows, task: string): Promise<Spent> {
  const row = (await journal.viewRow(spendingView.name, spendingKey.task(task))) as SpendingRow | undefined
  return row?.working ?? nothingSpent
}

const of = (sums: ReadonlyMap<string, Spent>, name: string): Working => ({ working: sums.get(name) ?? nothingSpent })

async function* taskRows(journal: Rows, mission: string | undefined): AsyncGenerator<TaskSums> {
  const prefix = mission === undefined ? '' : `${mission}/`
  let afterKey: string | undefined
  for (;;) {
    const rows = await journal.viewRows(taskMetricsView.name, { prefix, limit: page, ...(afterKey !== undefined && { afterKey }) })
    for (const { row } of rows) yield row as TaskSums
    if (rows.length < page) return
    afterKey = rows.at(-1)?.key
  }
}

function totalsOf<T>(totals: Map<string, T>, name: string, make: () => T): T {
  const found = totals.get(name) ?? make()
  totals.set(name, found)
  return found
}

const inOrder = <T>(totals: Map<string, T>): [string, T][] => [...totals].sort(([a], [b]) => textOrder(a, b))
