import type { StoredEvent } from '../../contract/events/envelope.ts'
import type { EventData } from '../../contract/events/manifest.ts'
import type { Decision } from '../../contract/review.ts'
import type { Score } from '../../contract/score.ts'
import type { DoneFlag, HeldReason, TaskStatus } from '../../contract/task.ts'
import { isHandedByCall } from '../../core/delegation/plan.ts'
import type { View } from '../../ports/journal.ts'
import { taskOf } from '../streams.ts'
import { gateInputsView, gatesView } from './gates.ts'
import { cardsOfView, deliverablesView, inboxView, subjectsView } from './inbox.ts'
import { missionMetricsView, taskMetricsView } from './metrics.ts'
import { judgedView } from './judged.ts'
import { sessionToolsView } from './session-tools.ts'
import { slaView } from './sla.ts'
import { notifyViews } from '../notify/views.ts'
import { spendingView } from './spending.ts'
import { verdictsView } from './verdicts.ts'
import { foldersView } from './folders.ts'

/** A task in a list: what a person looks at first. */
export interface TaskRow {
  id: string
  mission: string
  title: string
  assignee: string
  /** The work is brought to be reviewed, whatever the configuration says of whoever did it. Nobody takes it. */
  outside?: true
  /** It was handed down by a call, whose caller was told how it stands. */
  byCall?: true
  /** Quality gates stand before it. */
  gated?: true
  /** It was given what it depends on. */
  given?: true
  status: TaskStatus
  priority: number
  /** What its score was decided against; before the first score, what the next one will be. */
  bar: number
  /** Bar of a policy that took over since. */
  nextBar?: number
  flag?: DoneFlag
  held?: HeldReason
  detail?: string
  attempt: number
  score?: Score
  /** The latest concern of judges, or what code found. */
  concern?: string
  content?: string | null
  dependsOn: string[]
  request?: string
  /** How often judges that could not be reached were asked again. */
  retries?: number
  /** Seats of the open review: who was asked, and what came back so far; a judge outside is `awaited`. */
  seats?: { judge: string; state: string }[]
  /** When it was done, failed or skipped; one that the owner accepts once more was done when it was accepted first. */
  ended?: string
  updated: string
}

/** Rows of `tasks`, by task id. */
export const tasksView: View<TaskRow> = {
  name: 'tasks',
  keys: (event) => {
    const task = taskOf(event.stream)
    return task === undefined ? [] : [task]
  },
  fold: (row, event) => {
    if (event.type === 'task.created') return createdRow(event)
    if (!row) return undefined
    const next = foldRow(row, event)
    next.updated = event.meta.at
    if (!hasEnded(next)) delete next.ended
    else if (!hasEnded(row) || row.status !== next.status) next.ended = event.meta.at
    return next
  },
}

const hasEnded = ({ status }: TaskRow): boolean => status === 'done' || status === 'failed' || status === 'skipped'

function createdRow(event: StoredEvent): TaskRow {
  const { spec } = event.data as EventData<'task.created'>
  const { id, title, assignee, priority, bar, dependsOn } = spec
  return {
    id,
    mission: spec.mission ?? '',
    title,
    assignee,
    status: 'waiting',
    priority,
    bar,
    attempt: 0,
    dependsOn,
    ...(spec.outside && { outside: true as const }),
    ...(isHandedByCall(spec) && { byCall: true as const }),
    ...(spec.gates && spec.gates.length > 0 && { gated: true as const }),
    updated: event.meta.at,
  }
}

type Fold = (row: TaskRow, data: never) => TaskRow

const without = (row: TaskRow, ...keys: (keyof TaskRow)[]): TaskRow => {
  const rest = { ...row }
  for (const key of keys) delete rest[key]
  return rest
}
const ended = (row: TaskRow): TaskRow => without(row, 'held', 'detail', 'request', 'seats')
const seat = (row: TaskRow, judge: string, state: string): TaskRow => {
  const others = (row.seats ?? []).filter((one) => one.judge !== judge)
  return { ...row, seats: [...others, { judge, state }] }
}

const decidedRow = (row: TaskRow, { bar, concern, score }: Decision): TaskRow => ({
  ...without(row, 'nextBar'),
  bar,
  concern,
  ...(score && { score }),
})

const folds: Record<string, Fold> = {
  'task.readied': (row) => ({ ...row, status: 'todo', ...(row.dependsOn.length > 0 && { given: true as const }) }),
  'task.blocked': (row) => ({ ...row, status: 'waiting' }),
  'task.unreadied': (row) => ({ ...row, status: 'waiting' }),
  'task.skipped': (row, data: EventData<'task.skipped'>) => ({ ...row, status: 'skipped', detail: data.because }),
  'attempt.started': (row, data: EventData<'attempt.started'>) => ({ ...without(row, 'seats'), status: 'running', attempt: data.attempt }),
  'attempt.stopped': (row) => ({ ...row, status: 'todo' }),
  'attempt.failed': (row, data: EventData<'attempt.failed'>) => ({ ...row, concern: data.detail }),
  'attempt.interrupted': (row, data: EventData<'attempt.interrupted'>) => ({ ...row, concern: data.detail }),
  'attempt.rejected': (row, data: EventData<'attempt.rejected'>) => ({ ...row, concern: data.detail }),
  'case.submitted': (row) => ({ ...row, status: 'checking' }),
  'checks.failed': (row) => ({ ...row, status: 'running' }),
  'checks.passed': (row) => ({ ...row, status: 'in_review' }),
  'review.opened': (row) => ({ ...row, status: 'in_review', seats: [] }),
  'seat.asked': (row, data: EventData<'seat.asked'>) => seat(row, data.judge, data.outside ? 'awaited' : 'asked'),
  'verdict.recorded': (row, { sitting }: EventData<'verdict.recorded'>) =>
    seat(row, sitting.judge, sitting.outcome === 'abstained' ? 'abstained' : sitting.accepts ? 'accepts' : 'rejects'),
  'task.eval.unparsed': (row, data: EventData<'task.eval.unparsed'>) => seat(row, data.judge, 'unreadable'),
  'judge.unavailable': (row, data: EventData<'judge.unavailable'>) => seat(row, data.judge, 'unavailable'),
  'decision.reused': (row) => ({ ...without(row, 'nextBar'), bar: row.nextBar ?? row.bar }),
  'review.decided': (row, { decision }: EventData<'review.decided'>) => decidedRow(row, decision),
  'decision.carried': (row, { decision }: EventData<'decision.carried'>) => decidedRow(row, decision),
  'task.returned': (row) => ({ ...row, status: 'todo' }),
  'restore.requested': (row) => ({ ...row, status: 'in_review' }),
  'merge.requested': (row) => ({ ...without(ended(row), 'flag'), status: 'in_review' }),
  'merge.failed': (row, data: EventData<'merge.failed'>) => ({ ...row, concern: data.detail }),
  'task.accepted': (row, data: EventData<'task.accepted'>) => ({
    ...ended(row),
    status: 'done',
    flag: data.flag,
    content: data.content,
    ...(data.score && { score: data.score }),
  }),
  'task.force_accepted': (row, data: EventData<'task.force_accepted'>) => ({
    ...ended(row),
    status: 'done',
    flag: 'below-threshold',
    content: data.content,
    score: data.score,
  }),
  'task.failed': (row, data: EventData<'task.failed'>) => ({ ...without(ended(row), 'flag'), status: 'failed', detail: data.reason }),
  'task.held': (row, data: EventData<'task.held'>) => ({ ...row, status: 'held', held: data.reason, detail: data.detail }),
  'hold.lifted': (row, data: EventData<'hold.lifted'>) => ({
    ...without(row, 'held', 'detail', 'request'),
    status: data.to,
    ...(data.reason === 'judge_unavailable' && { retries: (row.retries ?? 0) + 1 }),
  }),
  // One that never began waits again for whatever it has to wait for.
  'task.reopened': (row) => ({
    ...without(row, 'flag', 'held', 'detail', 'request', 'content'),
    status: row.attempt === 0 && (row.gated || (row.dependsOn.length > 0 && !row.given)) ? 'waiting' : 'todo',
  }),
  'operator.requested': (row, data: EventData<'operator.requested'>) => ({ ...row, request: data.request }),
  'operator.answered': (row) => without(row, 'request'),
  'policy.adopted': (row, data: EventData<'policy.adopted'>) => {
    const { nextBar: _former, ...rest } = row
    if (!row.score || row.bar === data.bar) return { ...rest, bar: data.bar }
    return { ...rest, nextBar: data.bar }
  },
}

function foldRow(row: TaskRow, event: StoredEvent): TaskRow {
  const fold = folds[event.type]
  return fold ? fold(row, event.data as never) : { ...row }
}

/** Who waits for whom: a row per edge, so that dependents of a task are found by its id alone. */
export const dependentsView: View<{ task: string }> = {
  name: 'dependents',
  keys: (event) => {
    if (event.type !== 'task.created') return []
    const { spec } = event.data as EventData<'task.created'>
    return spec.dependsOn.map((dependency) => dependentKey(dependency, spec.id))
  },
  fold: (_row, event) => ({ task: (event.data as EventData<'task.created'>).spec.id }),
}

export const dependentKey = (dependency: string, task: string): string => `${dependency}|${task}`

/** Runs of missions, by id. */
export interface MissionRow {
  id: string
  name: string
  policy: string
  plan: string
  tasks: number
  /** Plans of the tasks that were added after the start. */
  added?: string[]
  started: string
  /** Names the request that asked for it, where that has a name. */
  key?: string
  finished?: string
  outcome?: string
  /** What became of its quality threshold, once looked at. */
  threshold?: 'passed' | 'failed' | 'waived'
}

export const missionsView: View<MissionRow> = {
  name: 'missions',
  keys: (event) => (event.stream.startsWith('mission/') ? [event.stream.slice('mission/'.length)] : []),
  fold: (row, event) => {
    if (event.type === 'mission.started') {
      const { mission, name, policy, plan, tasks, key } = event.data as EventData<'mission.started'>
      return { id: mission, name, policy, plan, tasks, started: event.meta.at, ...(key !== undefined && { key }) }
    }
    if (!row) return undefined
    const { finished: _finished, outcome: _outcome, ...open } = row
    switch (event.type) {
      case 'mission.finished':
        return { ...row, finished: event.meta.at, outcome: (event.data as EventData<'mission.finished'>).outcome }
      case 'mission.reopened':
        return open
      case 'policy.recorded':
        return { ...row, policy: (event.data as EventData<'policy.recorded'>).digest }
      case 'mission.extended': {
        const { plan, tasks } = event.data as EventData<'mission.extended'>
        return { ...row, tasks: row.tasks + tasks, added: [...(row.added ?? []), plan] }
      }
      case 'quality.threshold.passed':
        return { ...row, threshold: 'passed' }
      case 'quality.threshold.failed':
        return { ...row, threshold: 'failed' }
      case 'threshold.waived':
        return { ...row, threshold: 'waived' }
      default:
        return row
    }
  },
}

export const engineViews: View[] = [
  tasksView as View,
  dependentsView as View,
  missionsView as View,
  spendingView as View,
  verdictsView as View,
  foldersView as View,
  gatesView as View,
  gateInputsView as View,
  ...notifyViews,
  slaView as View,
  taskMetricsView as View,
  missionMetricsView as View,
  inboxView as View,
  cardsOfView as View,
  deliverablesView as View,
  subjectsView as View,
  sessionToolsView as View,
  judgedView as View,
]
