import type { Score } from '../../../contract/score.ts'
import {
  type MetricsGroup,
  metricsOf,
  type Share,
  type TaskMetrics,
  taskMetricsOf,
  type WorkFigures,
} from '../../../engine/views/metrics.ts'
import type { App, ExitCode } from '../app.ts'
import type { Output } from '../output.ts'
import type { ConfigFlags } from '../project.ts'
import { sparkline, wantsAscii } from '../render/sparkline.ts'
import { displayWidth, table } from '../render/table.ts'
import { withEngine } from './task.ts'

export interface MetricsFlags extends ConfigFlags {
  mission?: string
  agent?: string
}

/** Tasks that are listed without being asked for. */
const fewTasks = 30

/** `assay metrics`: figures of missions, of agents as workers and as judges, and of tasks. */
export async function metricsCommand(app: App, output: Output, { mission, agent, ...flags }: MetricsFlags): Promise<ExitCode> {
  return withEngine(app, output, flags, async (engine) => {
    const { journal } = engine.parts
    const filter = { ...(mission !== undefined && { mission }), ...(agent !== undefined && { agent }) }
    const groups = await metricsOf(journal, filter)
    if (groups.length === 0 && (mission !== undefined || agent !== undefined)) {
      const known = namesIn(await metricsOf(journal), agent === undefined ? 'missions' : 'agents')
      const wanted = [...(agent === undefined ? [] : [`agent ${agent}`]), ...(mission === undefined ? [] : [`mission ${mission}`])]
      output.note(`assay: nothing is known of ${wanted.join(' in ')}; there are: ${known.join(', ') || 'none'}`)
      return 2
    }
    if (groups.length === 0) output.note('Nothing to measure yet: assay run <mission> starts something.')
    else if (output.json) {
      for (const group of groups) output.jsonLine(group)
      for await (const task of taskMetricsOf(journal, filter)) output.jsonLine(task)
    } else {
      const tasks = of(groups, 'worker').reduce((sum, worker) => sum + worker.tasks, 0)
      const listed = mission !== undefined || agent !== undefined || tasks <= fewTasks
      const rows: TaskMetrics[] = []
      if (listed) for await (const task of taskMetricsOf(journal, filter)) rows.push(task)
      show(output, groups, rows)
      if (!listed) output.note(`${tasks} tasks: --mission <id> or --agent <name> lists them`)
    }
    return 0
  })
}

function namesIn(groups: readonly MetricsGroup[], what: 'missions' | 'agents'): string[] {
  const names = groups.flatMap((group) => {
    if (what === 'missions') return group.kind === 'mission' ? [group.mission] : []
    return group.kind === 'worker' || group.kind === 'judge' ? [group.agent] : []
  })
  return [...new Set(names)]
}

const of = <K extends MetricsGroup['kind']>(groups: readonly MetricsGroup[], kind: K) =>
  groups.filter((group): group is Extract<MetricsGroup, { kind: K }> => group.kind === kind)

/** A heading and what stands under it. */
type Column<T> = [heading: string, cell: (one: T) => string]

function show(output: Output, groups: readonly MetricsGroup[], tasks: readonly TaskMetrics[]): void {
  const ascii = wantsAscii(output.terminal.env)
  const trend: Column<{ lastScores: number[] }> = ['trend', ({ lastScores }) => sparkline(lastScores, ascii)]
  const [missions, workers, judges] = [of(groups, 'mission'), of(groups, 'worker'), of(groups, 'judge')]
  const parts = [
    section(output, missions, [['mission', (one) => one.mission], ...workColumns, ...dimensionColumns(missions)]),
    section(output, workers, [['worker', (one) => one.agent], trend, ...workColumns, ...dimensionColumns(workers)]),
    section(output, judges, [['judge', (one) => one.agent], trend, ...judgeColumns, ...dimensionColumns(judges)]),
    section(output, tasks, [['task', (one) => one.task], ...workColumns]),
  ]
  output.data(parts.filter((part) => part !== '').join('\n\n'))
}

/** A table that is too wide for the terminal goes on below, under the names again: no figure is cut off. */
function section<T>(output: Output, rows: readonly T[], columns: readonly Column<T>[]): string {
  const [name, ...others] = columns
  if (rows.length === 0 || !name) return ''
  const width = output.terminal.stdout.isTTY ? output.columns : Number.POSITIVE_INFINITY
  const taken = ([heading, cell]: Column<T>) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(cell(row)) + 2), displayWidth(heading) + 2)
  const parts: Column<T>[][] = []
  let left = 0
  for (const column of others) {
    const wanted = taken(column)
    if (wanted > left || parts.length === 0) {
      parts.push([name])
      left = width + 2 - taken(name)
    }
    parts.at(-1)?.push(column)
    left -= wanted
  }
  const lines = (part: readonly Column<T>[]) => rows.map((row) => part.map(([, cell]) => cell(row)))
  return parts
    .map((part) =>
      table(
        part.map(([heading]) => heading),
        lines(part),
        width,
      ),
    )
    .join('\n')
}

const none = '-'
const scoreText = (score: Score | null | undefined) => (score ? score.on5.toFixed(2) : none)
const shareText = ({ count, of: whole }: Pick<Share, 'count' | 'of'>) => (whole === 0 ? none : `${count}/${whole}`)

const scoreColumns: Column<Pick<WorkFigures, 'avgScore' | 'minScore' | 'maxScore'>>[] = [
  ['score', ({ avgScore }) => scoreText(avgScore)],
  ['min', ({ minScore }) => scoreText(minScore)],
  ['max', ({ maxScore }) => scoreText(maxScore)],
]

const workColumns: Column<WorkFigures & Pick<TaskMetrics, 'working'>>[] = [
  ['passed', (one) => shareText({ count: one.passedAssessments, of: one.totalAssessments })],
  ...scoreColumns,
  ['first pass', (one) => shareText(one.firstPassYield)],
  ['retries', (one) => String(one.totalRetries)],
  ['fixes', (one) => String(one.totalFixes)],
  ['deadlines', (one) => shareText({ count: one.deadlinesMet, of: one.deadlinesMet + one.deadlinesMissed })],
  ['forced', (one) => String(one.forceAccepts)],
  ['bypassed', (one) => String(one.bypasses)],
  ['unread', (one) => String(one.unreadableVerdicts)],
  ['agreed', (one) => shareText(one.judgeAgreement)],
  ['overruled', (one) => shareText(one.overruleRate)],
  ['in review', (one) => (one.avgTimeInReviewMs === null ? none : shortTime(one.avgTimeInReviewMs))],
  ['work tokens', ({ working }) => (working.calls === 0 ? none : `${working.inputTokens}+${working.outputTokens}`)],
  ['work cost', ({ working }) => costText(working)],
]

const judgeColumns: Column<Extract<MetricsGroup, { kind: 'judge' }>>[] = [
  ['accepted', (one) => shareText({ count: one.passedAssessments, of: one.totalAssessments })],
  ...scoreColumns,
  ['agreed', (one) => shareText(one.judgeAgreement)],
  ['overruled', (one) => shareText(one.overruleRate)],
  ['abstained', (one) => String(one.abstained)],
  ['unread', (one) => String(one.unreadableVerdicts)],
  ['away', (one) => String(one.unavailable)],
  ['calls', ({ judging }) => String(judging.calls)],
  ['tokens', ({ judging }) => `${judging.inputTokens}+${judging.outputTokens}`],
  ['cost', ({ judging }) => costText(judging)],
]

/** A column for every dimension that anybody here was scored on. */
function dimensionColumns(groups: readonly Pick<WorkFigures, 'dimensionScores'>[]): Column<Pick<WorkFigures, 'dimensionScores'>>[] {
  const names = new Set(groups.flatMap(({ dimensionScores }) => Object.keys(dimensionScores)))
  return [...names].map((name) => [
    name,
    ({ dimensionScores }) => scoreText(Object.hasOwn(dimensionScores, name) ? dimensionScores[name] : undefined),
  ])
}

/** A plus where calls without a known price came on top. */
function costText({ calls, unpriced, costUsd }: Pick<TaskMetrics['working'], 'calls' | 'unpriced' | 'costUsd'>): string {
  if (unpriced === calls) return none
  return `$${costUsd.toFixed(4)}${unpriced > 0 ? '+' : ''}`
}

function shortTime(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`
  return ms < 3_600_000 ? `${Math.floor(ms / 60_000)}m` : `${(ms / 3_600_000).toFixed(1)}h`
}
